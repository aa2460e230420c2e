"""Programs: runs a simulated program with the streams of a client.

The terminal of the client is in raw mode, so that it sends each key.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from aio_apiserver.apiserver.simulated_kubelet import channels
from aio_apiserver.apiserver.simulated_kubelet.channels import STDOUT, ContainerStreams
from aio_apiserver.base.clock import Clock
from aio_apiserver.simulation.containers.shell import Shell
from aio_apiserver.simulation.containers.steps import FOREVER, Input, Pause, Steps, Written

_BACKSPACES = (0x7F, 0x08)
_END_OF_FILE, _INTERRUPT = 0x04, 0x03


class Terminal:
    """The terminal of one program."""

    def __init__(self, streams: ContainerStreams) -> None:
        self._streams = streams
        self._line = b""
        self._ready: list[bytes] = []

    async def write(self, _channel: int, data: bytes) -> None:
        await self._streams.write(STDOUT, data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))

    async def read(self) -> bytes:
        """The next line; empty bytes at the end."""
        while not self._ready:
            data = await self._streams.read()
            if not data:
                return b""
            echo = b"".join(self._type(key) for key in data)
            if echo:
                await self._streams.write(STDOUT, echo)
        return self._ready.pop(0)

    def _type(self, key: int) -> bytes:
        """Take one key. Returns its echo."""
        char = bytes((key,))
        if char in b"\r\n":
            self._end_line(b"\n")
            return b"\r\n"
        if key in _BACKSPACES:
            had_text, self._line = bool(self._line), self._line[:-1]
            return b"\b \b" if had_text else b""
        if key == _INTERRUPT:
            self._line = b""
            self._end_line(b"\n")
            return b"^C\r\n"
        if key == _END_OF_FILE:
            if not self._line:
                self._ready.append(b"")
            return b""
        self._line += char
        return char

    def _end_line(self, end: bytes) -> None:
        self._ready.append(self._line + end)
        self._line = b""


Read = Callable[[], Awaitable[bytes]]
_PROMPT = "/ # "


async def run(shell: Shell, argv: Sequence[str], streams: ContainerStreams, clock: Clock, *, tty: bool) -> int:
    """Run a program to its end. Returns its exit code."""
    if not tty:
        return await _drive(shell.execute(argv), streams.read, streams, clock)
    terminal = Terminal(streams)
    shell.env.update({"TERM": "xterm", "PS1": _PROMPT})
    return await _drive(shell.execute(argv), terminal.read, terminal, clock)


async def _drive(steps: Steps, read: Read, output: ContainerStreams | Terminal, clock: Clock) -> int:
    sent: bytes | None = None
    while True:
        try:
            step = steps.send(sent)
        except StopIteration as end:
            return int(end.value)
        sent = None
        if isinstance(step, Written):
            await output.write(channels.STDOUT if step.stream == 1 else channels.STDERR, step.data)
        elif isinstance(step, Input):
            sent = await read()
        elif isinstance(step, Pause):
            await _pause(step.seconds, clock)


async def _pause(seconds: float, clock: Clock) -> None:
    if seconds == FOREVER:
        await asyncio.Event().wait()
    elif seconds:
        await clock.sleep(seconds)
    else:
        await asyncio.sleep(0)
