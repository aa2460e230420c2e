"""local_process: starts a process of this machine in a session of its own, with pipes or a terminal.

Must hold: a process and the others of its session end with the block that has started it. One that begins a session of
its own (setsid) runs on.
"""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from io import FileIO
from pathlib import Path

from msgspec import Struct

from aio_apiserver.simulation.processes.descriptors import Descriptor

STDOUT, STDERR = 1, 2
_NOT_FOUND, _NOT_ALLOWED, _SIGNALLED = 127, 126, 128
_KILL_SECONDS = 5.0
"""A process of another user, as by sudo, may not be killed. The block ends without it."""


class LocalCommand(Struct, frozen=True):
    """A command with its whole environment and its directory."""

    argv: Sequence[str]
    env: Mapping[str, str]
    directory: str


class CannotStart(Exception):
    """The machine has no such program, may not run it, or has no terminal or pipe for it. code: that of a shell."""

    def __init__(self, error: OSError | ValueError) -> None:
        super().__init__(error.strerror if isinstance(error, OSError) else str(error))
        self.code = _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_ALLOWED


@contextmanager
def starting() -> Iterator[None]:
    """Raises CannotStart."""
    try:
        yield
    except (OSError, ValueError) as exc:  # ValueError: a NUL in an argument or a variable
        raise CannotStart(exc) from exc


class StandardFiles(Struct, frozen=True):
    """The standard files of a process, and this server's sides of them."""

    stdin: FileIO | None
    stdout: FileIO
    stderr: FileIO
    outputs: Sequence[tuple[int, Descriptor]]
    input: Descriptor | None


def pipes(stack: ExitStack, *, has_input: bool = False) -> StandardFiles:
    """A pipe for each standard file. Raises OSError."""
    (out, stdout), (err, stderr) = _pipe(stack), _pipe(stack)
    outputs = [(STDOUT, Descriptor(out)), (STDERR, Descriptor(err))]
    stdin, ours = _pipe(stack) if has_input else (None, None)
    return StandardFiles(stdin, stdout, stderr, outputs, Descriptor(ours) if ours is not None else None)


def _pipe(stack: ExitStack) -> tuple[FileIO, FileIO]:
    """The side to read, and the side to write."""
    read, write = os.pipe()
    return stack.enter_context(FileIO(read, "r")), stack.enter_context(FileIO(write, "w"))


class LocalProcess:
    """A process in a session of its own."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._is_killed = False

    async def ended(self) -> int:
        """The exit code as a shell tells it. The rest of the session has ended, too."""
        code = await self._process.wait()
        self.kill()
        return code if code >= 0 else _SIGNALLED - code

    def terminate(self) -> None:
        """Send SIGTERM to the first process of the session, as a container runtime does."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)

    async def end(self) -> None:
        """End the session."""
        self.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(_KILL_SECONDS):
                await self._process.wait()

    def kill(self) -> None:
        """Kill the session, once: later its number may name another one."""
        if not self._is_killed:
            self._is_killed = True
            kill(self._process.pid)


@asynccontextmanager
async def started(command: LocalCommand, files: StandardFiles) -> AsyncIterator[LocalProcess]:
    """A process that ends with the block. Raises CannotStart."""
    with starting():
        process = await asyncio.create_subprocess_exec(
            *command.argv,
            env=command.env,
            cwd=command.directory,
            stdin=files.stdin or DEVNULL,
            stdout=files.stdout,
            stderr=files.stderr,
            start_new_session=True,
        )
    made = LocalProcess(process)
    try:
        for one in (files.stdin, files.stdout, files.stderr):
            if one is not None:
                one.close()
        yield made
    finally:
        await made.end()


_PROCESSES = Path("/proc")
_MOST_ROUNDS = 10
_GONE = (ProcessLookupError, PermissionError)


def kill(session: int) -> None:
    """Kill all processes of a session, also those that they start meanwhile. Without /proc: its first group.

    The number must not be free for other processes: call it once, as soon as its first process has ended.
    """
    with suppress(*_GONE):
        os.killpg(session, signal.SIGKILL)
    known: set[int] = set()
    for _ in range(_MOST_ROUNDS):
        new = set(_members(session)) - known
        if not new:
            return
        for number in new:
            with suppress(*_GONE):
                os.kill(number, signal.SIGKILL)
        known |= new


def _members(session: int) -> Iterator[int]:
    """The processes of a session."""
    found = _PROCESSES.iterdir() if _PROCESSES.is_dir() else ()
    for number in (int(one.name) for one in found if one.name.isdigit()):
        with suppress(*_GONE):
            if os.getsid(number) == session:
                yield number
