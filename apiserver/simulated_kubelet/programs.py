"""Programs: runs a simulated program with the streams of a client.

The terminal of the client is in raw mode, so that it sends each key. Must hold: a program shares the event loop with
all others. A client that does not read stops it.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from functools import partial
from io import BytesIO

from aio_apiserver.apiserver.simulated_kubelet import channels
from aio_apiserver.apiserver.simulated_kubelet.channels import STDOUT, ContainerStreams
from aio_apiserver.base.clock import Clock
from aio_apiserver.simulation.containers.process import SimulatedProcess
from aio_apiserver.simulation.containers.shell import Shell
from aio_apiserver.simulation.containers.steps import FOREVER, OUT
from aio_apiserver.simulation.containers.turns import TurnShare

_BACKSPACES = (0x7F, 0x08)
_END_OF_FILE, _INTERRUPT = 0x04, 0x03
_LONGEST_LINE = 4095
"""Later keys of a line are lost, as in a terminal of Linux."""
_KEYS_A_TURN = 1_000


class Terminal:
    """The terminal of one program."""

    def __init__(self, streams: ContainerStreams, share: TurnShare) -> None:
        self._streams = streams
        self._share = share
        self._line = bytearray()
        self._lines: deque[bytes] = deque()
        """The lines that the program has not read. An empty one is the end of the input."""
        self._keys = BytesIO()
        """The keys that were not typed yet."""

    async def write(self, _channel: int, data: bytes) -> None:
        await self._streams.write(STDOUT, data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))

    async def read(self) -> bytes:
        """The next line; empty bytes at the end."""
        while not self._lines:
            keys = self._keys.read(_KEYS_A_TURN)
            if keys:
                echo = await self._share.run(partial(self._type_all, keys))
                await self._streams.write(STDOUT, echo)
            elif data := await self._streams.read():
                self._keys = BytesIO(data)
            else:
                return b""
        return self._lines.popleft()

    def _type_all(self, keys: bytes) -> bytes:
        """Type some keys. Returns their echo."""
        return b"".join(map(self._type, keys))

    def _type(self, key: int) -> bytes:
        """Type one key. Returns its echo."""
        char = bytes((key,))
        if char in b"\r\n":
            self._end_line()
            return b"\r\n"
        if key in _BACKSPACES:
            had_text = bool(self._line)
            del self._line[-1:]
            return b"\b \b" if had_text else b""
        if key == _INTERRUPT:
            self._line.clear()
            self._end_line()
            return b"^C\r\n"
        if key == _END_OF_FILE:
            if not self._line:
                self._lines.append(b"")
            return b""
        if len(self._line) >= _LONGEST_LINE:
            return b""
        self._line += char
        return char

    def _end_line(self) -> None:
        self._lines.append(bytes(self._line) + b"\n")
        self._line.clear()


Read = Callable[[], Awaitable[bytes]]
_PROMPT = "/ # "


async def run(
    shell: Shell, argv: Sequence[str], streams: ContainerStreams, clock: Clock, share: TurnShare, *, tty: bool
) -> int:
    """Run a program to its end. Returns its exit code."""
    output: ContainerStreams | Terminal = Terminal(streams, share) if tty else streams
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
