"""Stops: how the program of a container ends that gets SIGTERM, by the trap that its script has set.

Pure. The script is run without its pauses. It is told when it first waits, and its present command ends at once.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from msgspec import Struct

from aio_apiserver.base.budget import Budget
from aio_apiserver.base.kept_results import KeptResults
from aio_apiserver.simulation.containers import courses
from aio_apiserver.simulation.containers.commands import COMMANDS
from aio_apiserver.simulation.containers.courses import ENDLESS, Course
from aio_apiserver.simulation.containers.files import Files
from aio_apiserver.simulation.containers.lexer import ScriptError
from aio_apiserver.simulation.containers.memory import Memory
from aio_apiserver.simulation.containers.playback import runs_on
from aio_apiserver.simulation.containers.process import ProcessEnd, SimulatedProcess
from aio_apiserver.simulation.containers.process_budget import JUDGED, OUT_OF_STEPS, ProcessBudget
from aio_apiserver.simulation.containers.shell import Shell, World

_TERM = "TERM"
_BYTES_OF_A_RESULT = 500


class _Stop(Struct, frozen=True):
    """The course of a stop; None without a trap. steps: what it has taken to judge it."""

    course: Course | None
    steps: int


_KEPT: KeptResults[tuple[Sequence[str], Sequence[tuple[str, str]]], _Stop] = KeptResults(1024 * 1024)


def stop_of(container: Mapping[str, Any], budget: Budget) -> Course | None:
    """The seconds that a program takes to stop, and its exit code; None for a script without a trap.

    Raises BudgetExceeded.
    """
    env = courses.env_of(container)
    argv = courses.argv_of(container, env)
    if not any("trap" in one for one in argv):
        return None
    key = argv, tuple(env.items())
    stop = _KEPT.get(key)
    if stop is not None:
        budget.spend(stop.steps)
        return stop.course
    before = budget.steps_spent
    course = _judged(argv, env, budget)
    size = _BYTES_OF_A_RESULT + sum(map(len, argv)) + sum(len(name) + len(value) for name, value in env.items())
    _KEPT.put(key, _Stop(course, budget.steps_spent - before), size)
    return course


def _judged(argv: Sequence[str], env: Mapping[str, str], budget: Budget) -> Course | None:
    memory = Memory()
    world = World(Files(memory), ProcessBudget(JUDGED, memory, budget), COMMANDS, runs_on, lambda: 0.0, "", {})
    with closing(SimulatedProcess(Shell(world, env).execute(argv), world.budget)) as program:
        try:
            return _stopped(world, program) if _is_trapped(world, program) else None
        except ScriptError:
            return None


def _is_trapped(world: World, program: SimulatedProcess) -> bool:
    """Run a program until it waits with a trap. Returns whether it does so."""
    while True:
        turn = program.run_turn()
        if turn.end is not None:
            return False
        if turn.seconds and _TERM in world.traps:
            return True


def _stopped(world: World, program: SimulatedProcess) -> Course:
    """The course of the trap, and then of the rest of the program unless the trap ends it. Raises ScriptError."""
    shell, command = world.traps[_TERM]
    handled, end = _run(SimulatedProcess(shell.handle(command), world.budget))
    if end.has_exited or end.reason:
        return ENDLESS if end.reason == OUT_OF_STEPS else Course(handled, end.code)
    seconds, end = _run(program)
    return ENDLESS if end.reason == OUT_OF_STEPS else Course(handled + seconds, end.code)


def _run(process: SimulatedProcess) -> tuple[float, ProcessEnd]:
    """The seconds that a process takes, and its end."""
    seconds = 0.0
    while True:
        turn = process.run_turn()
        seconds += turn.seconds
        if turn.end is not None:
            return seconds, turn.end
