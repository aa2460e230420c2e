"""Long bodies: the JSON of a list as an aiohttp payload, sent in pieces at the client's pace.

One bytes object of many megabytes would be copied by each client, and TLS would encrypt it in one long step.

Must hold: the bytes go out in order. Memory holds the items of the list, which the cache has anyway, one piece, and the
write buffer of the connection.
"""

from collections.abc import Iterator, Sequence

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

PIECE_BYTES = 64 * 1024
"""The approximate size of a piece: large against the cost of one write, small enough not to delay other requests."""
_FEWEST = 4
"""The fewest items that are worth a copy."""


class JSONList(Payload):
    """The JSON of a list: head, items, tail."""

    def __init__(self, head: bytes, items: Sequence[bytes], tail: bytes, *, content_type: str) -> None:
        super().__init__(items, content_type=content_type)
        self._head = head
        self._items = items
        self._tail = tail
        self._size = len(head) + sum(map(len, items)) + max(len(items) - 1, 0) + len(tail)

    @property
    def size(self) -> int:
        assert self._size is not None
        return self._size

    def joined(self) -> bytes:
        """The whole body."""
        return b"".join((self._head, b",".join(self._items), self._tail))

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self.joined().decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        for piece in self.pieces():
            await writer.write(piece)

    def pieces(self) -> Iterator[bytes]:
        """Pieces of about the same size, with the same number of items in each. Long items go out as they are, so that
        clients that wait share them.
        """
        items = self._items
        each = PIECE_BYTES * len(items) // self.size
        if each < _FEWEST:
            yield from self._long_pieces()
            return
        head = self._head
        for start in range(0, len(items), each):
            yield head + b",".join(items[start : start + each])
            head = b","
        yield self._tail

    def _long_pieces(self) -> Iterator[bytes]:
        separator = self._head
        for item in self._items:
            yield separator
            yield item
            separator = b","
        yield self._tail if self._items else self._head + self._tail
