"""Programs: runs a simulated program with the streams of a client.

The terminal of the client is in raw mode, so that it sends each key. Must hold: a program shares the event loop with all
others. A client that does not read stops it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from functools import partial

from aio_apiserver.apiserver.simulated_kubelet import channels
from aio_apiserver.apiserver.simulated_kubelet.channels import STDOUT, ContainerStreams
from aio_apiserver.base.clock import Clock
from aio_apiserver.simulation.containers.process import SimulatedProcess
from aio_apiserver.simulation.containers.shell import Shell
from aio_apiserver.simulation.containers.steps import FOREVER, OUT
from aio_apiserver.simulation.containers.turns import TurnShare

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


async def run(
    shell: Shell, argv: Sequence[str], streams: ContainerStreams, clock: Clock, share: TurnShare, *, tty: bool
) -> int:
    """Run a program to its end. Returns its exit code."""
    output: ContainerStreams | Terminal = Terminal(streams) if tty else streams
    if tty:
        shell.env.update({"TERM": "xterm", "PS1": _PROMPT})
    with closing(SimulatedProcess(shell.execute(argv), shell.budget)) as process:
        return await _drive(process, output, clock, share)


async def _drive(process: SimulatedProcess, output: ContainerStreams | Terminal, clock: Clock, share: TurnShare) -> int:
    sent: bytes | None = None
    while True:
        turn = await share.run(partial(process.run_turn, sent))
        sent = None
        for one in turn.written:
            await output.write(channels.STDOUT if one.stream == OUT else channels.STDERR, one.data)
        if turn.end is not None:
            return turn.end.code
        if turn.needs_input:
            sent = await output.read()
        elif turn.seconds == FOREVER:
            await asyncio.Event().wait()
        elif turn.seconds:
            await clock.sleep(turn.seconds)
