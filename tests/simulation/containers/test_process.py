"""Simulated processes: they run in short turns, within budgets that refill while they wait."""

import asyncio
import tracemalloc
from io import BytesIO

import pytest

from aio_apiserver.simulation.containers.commands import COMMANDS
from aio_apiserver.simulation.containers.files import Files
from aio_apiserver.simulation.containers.memory import Holder, Memory
from aio_apiserver.simulation.containers.playback import runs_on
from aio_apiserver.simulation.containers.process import ProcessEnd, ProcessTurn, SimulatedProcess
from aio_apiserver.simulation.containers.process_budget import OUT_OF_MEMORY, ProcessBudget, ProcessLimits
from aio_apiserver.simulation.containers.shell import Shell, World
from tests.simulation.containers.worst_scripts import WORST

FEW = ProcessLimits(steps=30_000, refill=10_000)
SOME = ProcessLimits(steps=150_000, refill=0)
MANY = ProcessLimits(steps=2_000_000, refill=0)
LONG = 1e9
LARGE = (
    "a doubled variable",
    "variables of nested processes",
    "a wide number",
    "a growing file",
    "copies of a large file",
)
MEGABYTE = 1024 * 1024


def _process(script: str, limits: ProcessLimits = FEW, memory: Memory | None = None) -> SimulatedProcess:
    memory = memory or Memory()
    world = World(Files(memory), ProcessBudget(limits, memory), COMMANDS, runs_on, lambda: 0.0, "pod-1")
    shell = Shell(world, {})
    shell.stdin = BytesIO()
    return SimulatedProcess(shell.execute(["sh", "-c", script]), world.budget)


def _end(process: SimulatedProcess) -> tuple[ProcessEnd, str]:
    """How a process ends, and all that it has written."""
    output, turn = b"", ProcessTurn([])
    while turn.end is None:
        turn = process.run_turn()
        output += b"".join(one.data for one in turn.written)
    return turn.end, output.decode()


@pytest.mark.parametrize("name", WORST)
async def test_the_worst_scripts_have_short_turns(name: str) -> None:
    process, turn = _process(WORST[name], SOME), ProcessTurn([])

    while turn.end is None and turn.seconds < LONG:
        turn = process.run_turn()
        await asyncio.sleep(0)  # the watchdog of the tests measures each turn by itself


@pytest.mark.parametrize("name", LARGE)
def test_the_worst_scripts_hold_little_memory(name: str) -> None:
    process, turn = _process(WORST[name]), ProcessTurn([])

    tracemalloc.start()
    try:
        while turn.end is None and turn.seconds < LONG:
            turn = process.run_turn()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert most < 64 * MEGABYTE


def test_a_process_that_does_not_wait_is_killed_after_its_steps() -> None:
    end, output = _end(_process("echo begun; while :; do :; done"))

    assert end == ProcessEnd(137, "Error")
    assert output == "begun\nsh: Killed: a simulated process has used up its steps\n"


def test_a_process_that_holds_too_much_is_killed_as_out_of_memory() -> None:
    end, output = _end(_process(WORST["a doubled variable"]))

    assert end == ProcessEnd(137, OUT_OF_MEMORY)
    assert output == "sh: Killed: a simulated process has at most 16777216 bytes\n"


def test_an_endless_process_that_waits_runs_on() -> None:
    process = _process("while true; do date; x=$(seq 1 10); for i in $x; do :; done; sleep 1; done")

    turns = [process.run_turn() for _ in range(1_000)]

    assert all(turn.end is None for turn in turns)
    assert sum(turn.seconds for turn in turns) > 900


def test_what_a_command_has_made_is_released_when_it_ends() -> None:
    end, output = _end(
        _process("for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero bs=1M count=3 status=none | wc -c; done", SOME)
    )

    assert (end.code, output) == (0, "3145728\n" * 8)


def test_a_variable_is_held_until_its_process_ends_and_its_parent_holds_its_own() -> None:
    script = "a=$(seq 1 200000); (a=; b=$(seq 1 200000); c=$b; (b=; c=; d=$(seq 1 200000); e=$d$d$d$d$d$d$d$d))"

    again = "for i in 1 2 3 4 5 6 7 8 9; do (a=$(seq 1 200000)); b=$(seq 1 200000); done"

    assert _end(_process(script, MANY))[0] == ProcessEnd(137, OUT_OF_MEMORY)
    assert _end(_process(again, MANY))[0].code == 0


def test_the_processes_and_files_of_a_server_share_its_memory() -> None:
    memory = Memory(4 * MEGABYTE)
    other = Holder(memory)
    other.hold(3 * MEGABYTE)

    end, _ = _end(_process("a=$(dd if=/dev/zero bs=1k count=500 status=none)", memory=memory))
    _, output = _end(_process("x=$(seq 1 1000); while echo $x >> /f; do :; done", MANY, memory))
    del other

    assert end == ProcessEnd(137, OUT_OF_MEMORY)
    assert "No space left on device" in output
    assert _end(_process("a=$(dd if=/dev/zero bs=1k count=500 status=none)", memory=memory))[0].code == 0


def test_memory_comes_back_when_processes_and_files_are_gone() -> None:
    memory = Memory()
    for script in WORST.values():
        process = _process(script, ProcessLimits(steps=5_000, refill=0), memory)
        process.run_turn()
        process.close()
        del process

    assert memory.used == 0


def test_a_turn_ends_before_a_long_script_does() -> None:
    process = _process("i=0; while [ $i -lt 100 ]; do i=$((i+1)); done; echo $i")

    first = process.run_turn()

    assert (first.end, first.seconds, first.needs_input) == (None, 0.0, False)
    assert _end(process)[1] == "100\n"
