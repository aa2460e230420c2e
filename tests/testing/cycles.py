"""Cycles: servers are started and stopped, or interrupted at random moments, and nothing is left of them.

The tests do this a few times, the long runs (tests/soak.py) a thousand times. A seed decides what is tried.

    MALLOC_ARENA_MAX=1 python -m tests.testing.cycles 1000 0    cycles, seed

Must hold: memory is measured with one arena. With several, each thread uses another one, and fragments look like a
leak.
"""

import asyncio
import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from aio_apiserver.testing import Server
from tests.reliability.outcomes import Outcome
from tests.testing.objects import make, names

_MANY = 200
"""The number of cycles that makes memory worth checking. In the first cycles a process grows."""
_OBJECTS_A_CYCLE = 1.0
_BYTES_A_CYCLE = 20_000
"""The mean growth for each cycle that counts as a leak. The gaps of the allocator also grow."""
_LONGEST_MOMENT = 0.8
_USING = ("-m", "tests.testing.interrupted")
_SERVING = "import sys; from aio_apiserver.apiserver.cli import main; print('begun', flush=True); sys.exit(main())"
_PATIENCE_SECONDS = 30.0
_PAUSE_SECONDS = 0.02
_INTERRUPTED = (-signal.SIGINT, 0, 1, 128 + signal.SIGINT)
"""The exit codes of an interrupted program."""
_IGNORED = b"Exception ignored in"
"""What Python says when code that cannot raise was interrupted."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a process and the folder for temporary files hold."""

    descriptors: int
    threads: Sequence[str]
    processes: Sequence[str]
    folders: Sequence[str]

    @classmethod
    def now(cls, folder: Path) -> "Left":
        gc.collect()
        return cls(
            len(list(Path("/proc/self/fd").iterdir())),
            sorted(thread.name for thread in threading.enumerate()),
            Path(f"/proc/self/task/{os.getpid()}/children").read_text().split(),
            sorted(path.name for path in folder.iterdir()),
        )


@dataclass(frozen=True, slots=True)
class _Memory:
    """The memory of a process."""

    objects: int
    resident_bytes: int

    @classmethod
    def now(cls) -> "_Memory":
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return cls(len(gc.get_objects()), pages * os.sysconf("SC_PAGE_SIZE"))


def run(count: int, folder: Path, *, seed: int) -> str:
    """Start and stop servers one after the other, in all ways. Raises AssertionError.

    `folder` is an empty folder for temporary files.
    """
    dice = random.Random(seed)
    ways: Sequence[Callable[[], None]] = (_use, _abandon_connections, _fail_to_start, _use_asynchronously)
    gc.collect()  # threads of what earlier tests have left end during the first cycles
    for way in ways:
        way()
    before, memory = Left.now(folder), _Memory.now()
    for number in range(count):
        dice.choice(ways)()
        gc.collect()  # garbage that waits for the collector raises the peak of the heap, and is no leak
        if number == count // 4:
            memory = _Memory.now()
    after = Left.now(folder)
    assert after == before, f"left behind: {after}, before: {before}"
    told = f"{count} cycles"
    if count >= _MANY:
        grown = _Memory.now()
        kept_bytes = (grown.resident_bytes - memory.resident_bytes) / (count * 3 / 4)
        kept_objects = (grown.objects - memory.objects) / (count * 3 / 4)
        told += f", of each {kept_objects:.2f} objects and {kept_bytes:,.0f} bytes were kept"
        assert kept_objects < _OBJECTS_A_CYCLE, told
        assert kept_bytes < _BYTES_A_CYCLE, told
    return told


def interrupt(count: int, folder: Path, *, seed: int, at_once: int = 16) -> Outcome:
    """Interrupt programs that use servers, at random moments. Raises AssertionError."""
    with ThreadPoolExecutor(at_once) as threads:
        for _ in threads.map(lambda place: _interrupt_in_turn(place, count, at_once, folder, seed), range(at_once)):
            pass
    half_written = [path for path in folder.rglob(".*") if path.name != ".lock"]
    assert not half_written, f"half-written files are left: {half_written}"
    return Outcome({"programs interrupted": count, "programs that left something": 0})


def _interrupt_in_turn(place: int, count: int, at_once: int, folder: Path, seed: int) -> None:
    """One of several series of programs at the same time, each series in folders of its own."""
    dice = random.Random(f"{seed} {place}")
    temporary, data = folder / f"temporary-{place}", folder / f"data-{place}"
    for path in (temporary, data):
        path.mkdir()
    commands = (_USING, ("-c", _SERVING, "--secure-port=0", f"--data-dir={data}"))
    for number in range(place, count, at_once):
        _interrupt_one(commands[number // at_once % len(commands)], temporary, dice)


def _use() -> None:
    with Server() as server, server.client() as client:
        make(client, "one")
        server.reset()


def _abandon_connections() -> None:
    """Open connections do not delay the stop of a server."""
    with Server() as server:
        client = server.client()
        names(client)
    client.__exit__(None, None, None)


def _fail_to_start() -> None:
    with suppress(FileNotFoundError):
        Server(token_auth_file=Path("/nowhere")).start()


def _use_asynchronously() -> None:
    async def use() -> None:
        async with Server() as server:
            await asyncio.to_thread(server.reset)
        assert asyncio.all_tasks() == {asyncio.current_task()}, "tasks are left"

    asyncio.run(use())


def _interrupt_one(command: Sequence[str], temporary: Path, dice: random.Random) -> None:
    process = subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )
    assert process.stdout is not None
    with process.stdout as output:
        output.readline()  # what becomes of Ctrl-C before that is decided by Python and by the libraries that it loads
        time.sleep(dice.uniform(0, _LONGEST_MOMENT))
        process.send_signal(signal.SIGINT)
        try:
            said = _said_until_the_end(process)
        finally:
            process.kill()
    assert process.returncode in _INTERRUPTED, f"{command}: exit code {process.returncode}:\n{said.decode()}"
    left = _left_in(temporary)
    assert not left, f"{command} left {left}:\n{said.decode()}"
    with suppress(ProcessLookupError):
        os.killpg(process.pid, 0)
        raise AssertionError(f"{command} left a process behind")


def _said_until_the_end(process: "subprocess.Popen[bytes]") -> bytes:
    """What an interrupted program says until it ends. Ctrl-C is pressed again when a library has ignored it.

    pydantic does so while it builds a validator.
    """
    try:
        return process.communicate(timeout=_PATIENCE_SECONDS)[0]
    except subprocess.TimeoutExpired as exc:
        if _IGNORED not in (exc.output or b""):
            raise
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=_PATIENCE_SECONDS)[0]


def _left_in(folder: Path) -> Sequence[Path]:
    """The files left in a folder. A shell removes those of an interrupted program."""
    patience = time.monotonic() + _PATIENCE_SECONDS
    while (left := list(folder.iterdir())) and time.monotonic() < patience:
        time.sleep(_PAUSE_SECONDS)
    return left


def main(count: int, seed: int) -> None:
    with tempfile.TemporaryDirectory(prefix="cycles-") as folder:
        tempfile.tempdir = folder
        sys.stdout.write(run(count, Path(folder), seed=seed))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
