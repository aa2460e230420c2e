"""Framing: messages on one connection, each behind its length in four bytes.

It does not know the content of a message. Must hold: messages that are sent in one turn of the event loop go out in one
write. `wait_until_writable` holds a sender back while the peer does not read.
"""

import asyncio
from collections.abc import Callable
from struct import Struct
from typing import cast

_LENGTH = Struct(">I")

Take = Callable[[memoryview], None]


class MessageStream(asyncio.Protocol):
    """One end of a connection. `take` is called with each message, in order. `ended` is set at its end."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self._loop = asyncio.get_running_loop()
        self.ended = asyncio.Event()
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._missing = 0
        self._unsent: list[bytes] = []
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._writable.set()
        self.ended.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Take the whole messages. A part of a message waits until the rest has come."""
        self._received += data
        if len(self._received) < self._missing:
            return
        received, self._received = self._received, bytearray()
        rest = self._take_whole(memoryview(received))
        self._received += received[rest:]

    async def wait_until_writable(self) -> None:
        """Return when the peer has read most of what was sent, or is gone."""
        await self._writable.wait()

    def send(self, message: bytes) -> None:
        """Send a message in this turn of the event loop. A lost connection drops it."""
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent += _LENGTH.pack(len(message)), message

    def close(self) -> None:
        """Send what is left, and end the connection."""
        self._flush()
        if self._transport is not None:
            self._transport.close()

    def _take_whole(self, received: memoryview) -> int:
        """Take all whole messages. Returns where the rest begins, and notes how long it has to get."""
        position, size = 0, len(received)
        while size - position >= _LENGTH.size:
            end = position + _LENGTH.size + _LENGTH.unpack_from(received, position)[0]
            if end > size:
                self._missing = end - position
                return position
            self._take(received[position + _LENGTH.size : end])
            position = end
        self._missing = _LENGTH.size
        return position

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        if unsent and self._transport is not None:
            self._transport.write(b"".join(unsent))
