"""Pieces: a long body, sent as the client takes it.

One block of memory for a list of many megabytes would be copied several times, by each of those who ask for it, and
hold up everybody else while it is encrypted. Must hold: what is sent is what was given, in order; no more of it is in
memory than what the list's objects hold anyway, one piece, and what the connection has not taken yet.
"""

from collections.abc import Iterator, Sequence

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

PIECE_BYTES = 128 * 1024
"""About how much goes out at once: much more than one step of a connection costs, and short enough to let others in."""


class JSONList(Payload):
    """The JSON of a list: its beginning, the items, its end."""

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
        """All of it."""
        return b"".join((self._head, b",".join(self._items), self._tail))

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self.joined().decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        for piece in self._pieces():
            await writer.write(piece)

    def _pieces(self) -> Iterator[bytes]:
        """Pieces of about the same size, with as many items in each."""
        items = self._items
        each = max(1, PIECE_BYTES * len(items) // self.size)
        head = self._head
        for start in range(0, len(items), each):
            yield head + b",".join(items[start : start + each])
            head = b","
        yield self._tail if items else head + self._tail
