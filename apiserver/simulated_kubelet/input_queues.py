"""Input queues: the bytes of a channel that a client has sent, and that the program has not read.

Must hold: a thousand single keys do not fill a queue, so that the kubelet sees the end of the connection although the
program reads nothing. The end of the input stays: later reads are empty.
"""

import asyncio

_MOST_BYTES = 1024 * 1024


class InputQueue:
    """The input on one channel. keeps_newest: whether a message replaces an unread one, as the size of a terminal."""

    def __init__(self, *, keeps_newest: bool = False) -> None:
        self._keeps_newest = keeps_newest
        self._data = bytearray()
        self._has_ended = False
        self._arrived = asyncio.Event()
        self._emptied = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """Whether the program has to read before more is taken from the client."""
        return len(self._data) > _MOST_BYTES

    def feed(self, data: bytes) -> None:
        """Add bytes. Empty bytes end the input. What comes later is lost."""
        if self._has_ended:
            return
        if self._keeps_newest and data:
            self._data.clear()
        self._data += data
        self._has_ended = not data
        self._arrived.set()

    async def read(self) -> bytes:
        """All bytes that have arrived; empty at the end."""
        while not self._data and not self._has_ended:
            self._arrived.clear()
            await self._arrived.wait()
        data = bytes(self._data)
        self._data.clear()
        self._emptied.set()
        return data

    async def has_room(self) -> None:
        """Return when the program has read enough."""
        while self.is_full:
            self._emptied.clear()
            await self._emptied.wait()
