"""A TCP proxy on loopback that a test can break: cut connections, hold bytes back, admit some connections.

Must hold: held bytes come out complete and in order when the gate opens. Leaving the context ends every connection and
task.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Self

from tests.stream_servers import HOST, talking

_REQUEST_BYTES = 64
"""More than the acknowledgements and probes of HTTP/2, less than any request of ours."""

Admission = Callable[[bytes], bool]
"""Whether a connection that starts with these bytes is admitted."""


def everybody(_first: bytes) -> bool:
    """Admits all connections."""
    return True


def nobody(_first: bytes) -> bool:
    """Admits no connection."""
    return False


class TcpProxy:
    """Forwards connections to one port.

    requests, answers: the gates of the two directions. Bytes wait at a cleared gate, while the connections stay open.
    admission: called for each new connection; one that is not admitted is closed.
    """

    def __init__(self, target: int) -> None:
        self.admission: Admission = everybody
        self.requests = asyncio.Event()
        self.answers = asyncio.Event()
        self.held_request = asyncio.Event()
        """Set when as many bytes as a request has have reached the cleared gate `requests`."""
        self.port = 0
        self._target = target
        self._stack = AsyncExitStack()
        self._writers: set[asyncio.StreamWriter] = set()

    def disconnect(self) -> None:
        """End all connections. New ones are admitted as before."""
        for writer in self._writers:
            writer.transport.abort()

    def partition(self) -> None:
        """Disconnect, and admit no connection until `heal`."""
        self.admission = nobody
        self.disconnect()

    def freeze(self) -> None:
        """Stop all bytes in both directions, without closing a connection."""
        self.requests.clear()
        self.answers.clear()

    def heal(self) -> None:
        """Admit and forward everything again."""
        self.admission = everybody
        self.requests.set()
        self.answers.set()

    async def __aenter__(self) -> Self:
        self.heal()
        self.port = await self._stack.enter_async_context(talking(self._serve))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        self._writers.add(writer)
        try:
            first = await reader.read(65536)
            if not first or not self.admission(first):
                return
            target_reader, target_writer = await asyncio.open_connection(HOST, self._target)
            ends.append(target_writer)
            self._writers.add(target_writer)
            await self._forward(first, reader, target_reader, ends)
        finally:
            for end in ends:
                end.transport.abort()
                self._writers.discard(end)

    async def _forward(
        self,
        first: bytes,
        reader: asyncio.StreamReader,
        target_reader: asyncio.StreamReader,
        ends: list[asyncio.StreamWriter],
    ) -> None:
        """Pump both directions until one ends."""
        writer, target_writer = ends
        requests: asyncio.Queue[bytes] = asyncio.Queue()
        answers: asyncio.Queue[bytes] = asyncio.Queue()
        requests.put_nowait(first)
        pumps = [
            asyncio.create_task(self._take(reader, requests, self.requests)),
            asyncio.create_task(self._take(target_reader, answers, self.answers)),
            asyncio.create_task(self._give(requests, target_writer, self.requests)),
            asyncio.create_task(self._give(answers, writer, self.answers)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _take(self, reader: asyncio.StreamReader, queue: asyncio.Queue[bytes], gate: asyncio.Event) -> None:
        held = 0
        while chunk := await reader.read(65536):
            held = 0 if gate.is_set() else held + len(chunk)
            if gate is self.requests and held >= _REQUEST_BYTES:
                self.held_request.set()
            queue.put_nowait(chunk)

    async def _give(self, queue: asyncio.Queue[bytes], writer: asyncio.StreamWriter, gate: asyncio.Event) -> None:
        while True:
            chunk = await queue.get()
            await gate.wait()
            writer.write(chunk)
            await writer.drain()
