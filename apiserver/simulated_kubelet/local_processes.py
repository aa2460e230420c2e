"""local_processes: runs commands of exec and attach as processes of this machine, for --simulate-local-processes.

Must hold: a process and its children end with the request. They get the environment of the container and the PATH of
the server, and no other variable of the server.
"""

import asyncio
import fcntl
import os
import pty
import signal
import struct
import sys
import termios
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from io import FileIO
from pathlib import Path

import orjson
from msgspec import Struct

from aio_apiserver.apiserver.simulated_kubelet import channels
from aio_apiserver.apiserver.simulated_kubelet.channels import ContainerStreams
from aio_apiserver.controllers.containers import courses
from aio_apiserver.storage.stored_object import Object
from aio_apiserver.storage.tasks import Tasks

_PIECE = 64 * 1024
_NOT_FOUND, _NOT_ALLOWED, _SIGNALLED = 127, 126, 128
_USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TERMINAL = "xterm"
_WITH_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
try:
    os.execvp(sys.argv[1], sys.argv[1:])
except OSError as exc:
    os.write(2, f"exec: {sys.argv[1]}: {exc.strerror}\\n".encode())
    os._exit(126 if isinstance(exc, PermissionError) else 127)
"""
"""Takes the terminal, and becomes the command."""


class LocalCommand(Struct, frozen=True):
    """A command with its environment and its directory."""

    argv: Sequence[str]
    env: Mapping[str, str]
    directory: str | None

    @classmethod
    def of(cls, container: Object, argv: Sequence[str]) -> "LocalCommand":
        """A command in a container. Its working directory counts when this machine has it."""
        directory = str(container.get("workingDir") or "")
        env = {"PATH": os.environ.get("PATH", _USUAL_PATH), **courses.env_of(container)}
        return cls(argv, env, directory if directory and Path(directory).is_dir() else None)


class _CannotStart(Exception):
    """The machine has no such program, or may not run it."""

    def __init__(self, error: OSError) -> None:
        self.error = error


async def run(command: LocalCommand, streams: ContainerStreams, *, tty: bool, has_input: bool) -> int:
    """Run a command to its end. Returns its exit code."""
    if tty:
        return await _run_in_terminal(command, streams)
    try:
        async with _started(command, stdin=PIPE if has_input else DEVNULL, stdout=PIPE, stderr=PIPE) as process:
            return await _run_with_pipes(process, streams)
    except _CannotStart as exc:
        await streams.write(channels.STDERR, f"exec: {command.argv[0]}: {exc.error.strerror}\n".encode())
        return _NOT_ALLOWED if isinstance(exc.error, PermissionError) else _NOT_FOUND


@asynccontextmanager
async def _started(command: LocalCommand, *, stdin: int, stdout: int, stderr: int) -> AsyncIterator[Process]:
    """A process in a session of its own, which ends with the block. Raises _CannotStart."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command.argv,
            env=command.env,
            cwd=command.directory,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except OSError as exc:
        raise _CannotStart(exc) from exc
    try:
        yield process
    finally:
        _kill(process)
        await process.wait()


def _kill(process: Process) -> None:
    """Kill what is left of the session of a process."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _exit_code(code: int) -> int:
    """The exit code as a shell tells it."""
    return code if code >= 0 else _SIGNALLED - code


async def _run_with_pipes(process: Process, streams: ContainerStreams) -> int:
    tasks = Tasks()
    try:
        if process.stdin is not None:
            tasks.spawn(_feed(process.stdin, streams), name="input of a local process")
        outputs = [
            tasks.spawn(_forward(reader, channel, streams), name="output of a local process")
            for channel, reader in ((channels.STDOUT, process.stdout), (channels.STDERR, process.stderr))
            if reader is not None
        ]
        code = await process.wait()
        _kill(process)  # its children may hold the pipes
        await asyncio.gather(*outputs)
        return _exit_code(code)
    finally:
        await tasks.close()


async def _feed(writer: asyncio.StreamWriter, streams: ContainerStreams) -> None:
    try:
        while data := await streams.read():
            writer.write(data)
            await writer.drain()
    except (BrokenPipeError, ConnectionResetError):
        return  # the process reads no more
    finally:
        writer.close()


async def _forward(reader: asyncio.StreamReader, channel: int, streams: ContainerStreams) -> None:
    while data := await reader.read(_PIECE):
        await streams.write(channel, data)


async def _run_in_terminal(command: LocalCommand, streams: ContainerStreams) -> int:
    argv = (sys.executable, "-I", "-S", "-c", _WITH_TERMINAL, *command.argv)
    wrapped = LocalCommand(argv, {"TERM": _TERMINAL, **command.env}, command.directory)
    with ExitStack() as files:
        main, other = (files.enter_context(FileIO(one, "r+")) for one in pty.openpty())
        number = other.fileno()
        async with _started(wrapped, stdin=number, stdout=number, stderr=number) as process:
            other.close()
            return await _run_on(_PseudoTerminal(main.fileno()), process, streams)


async def _run_on(terminal: "_PseudoTerminal", process: Process, streams: ContainerStreams) -> int:
    tasks = Tasks()
    try:
        tasks.spawn(terminal.feed(streams), name="input of a local terminal")
        tasks.spawn(terminal.follow_size(streams), name="size of a local terminal")
        output = tasks.spawn(terminal.forward(streams), name="output of a local terminal")
        code = await process.wait()
        _kill(process)
        await output
        return _exit_code(code)
    finally:
        await tasks.close()


class _PseudoTerminal:
    """The side of a pseudo-terminal that the client types on."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()

    async def feed(self, streams: ContainerStreams) -> None:
        while data := await streams.read():
            while data:
                try:
                    data = data[os.write(self._descriptor, data) :]
                except BlockingIOError:
                    await self._wait(self._loop.add_writer, self._loop.remove_writer)
                except OSError:
                    return  # the process has ended

    async def forward(self, streams: ContainerStreams) -> None:
        while True:
            try:
                data = os.read(self._descriptor, _PIECE)
            except BlockingIOError:
                await self._wait(self._loop.add_reader, self._loop.remove_reader)
                continue
            except OSError:
                return  # Linux: no process has the terminal any more
            if not data:
                return
            await streams.write(channels.STDOUT, data)

    async def follow_size(self, streams: ContainerStreams) -> None:
        while data := await streams.read(channels.RESIZE):
            size = orjson.loads(data)
            rows, columns = int(size["Height"]), int(size["Width"])
            fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    async def _wait(self, add: Callable[..., None], remove: Callable[[int], bool]) -> None:
        """Wait until the terminal can be read or written."""
        ready = asyncio.Event()
        add(self._descriptor, ready.set)
        try:
            await ready.wait()
        finally:
            remove(self._descriptor)
