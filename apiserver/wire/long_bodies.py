"""Long bodies: long responses as aiohttp payloads, sent in pieces at the client's pace, with gzip if it accepts that.

One bytes object of many megabytes would be copied by each client, and TLS would encrypt it in one long step.

Must hold: the bytes go out in order. Memory holds the items of the list, which the cache has anyway, one piece, and the
write buffer of the connection. So many clients that list large objects take little memory.
"""

import zlib
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from functools import partial

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

from aio_apiserver.base import worker_thread

PIECE_BYTES = 64 * 1024
"""The approximate size of a piece: large against the cost of one write, small enough not to delay other requests."""
_LONG_BYTES = 128 * 1024
"""A longer list is sent in pieces. As one object it would lie outside of the heap (process/heap.py), and the kernel
would make each of its pages anew, which takes longer than all else.
"""
_FEWEST = 4
"""The fewest items that are worth a copy."""
_COMPRESSED_TOGETHER = 512 * 1024
"""The bytes that a thread compresses before others have their turn: some milliseconds."""
_GZIP_LEVEL = 1
_GZIP_WINDOW = 31


class LongBody(Payload):
    """A body of known length, which is made in pieces. is_made: the pieces are copies, and no item is encoded."""

    is_made = False

    @property
    def size(self) -> int:
        assert self._size is not None
        return self._size

    @abstractmethod
    def pieces(self) -> AsyncGenerator[bytes]:
        """The body in pieces. It can be made several times."""

    async def write(self, writer: AbstractStreamWriter) -> None:
        async with aclosing(self.pieces()) as pieces:
            async for piece in pieces:
                await writer.write(piece)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        raise TypeError("a long body is written, not decoded")


class JoinedList(LongBody):
    """A list whose items are encoded: head, items with a separator between them, tail."""

    is_made = True

    def __init__(
        self, head: bytes, items: Sequence[bytes], tail: bytes, *, content_type: str, separator: bytes = b","
    ) -> None:
        super().__init__(items, content_type=content_type)
        self._head = head
        self._items = items
        self._tail = tail
        self._separator = separator
        self._size = len(head) + sum(map(len, items)) + max(len(items) - 1, 0) * len(separator) + len(tail)

    def fitting(self) -> "bytes | LongBody":
        """The body itself when it is better sent in pieces, else its bytes."""
        return self if self.size >= _LONG_BYTES else self.joined()

    def joined(self) -> bytes:
        """The whole body."""
        return b"".join((self._head, self._separator.join(self._items), self._tail))

    async def pieces(self) -> AsyncGenerator[bytes]:
        """Pieces of about the same size, with the same number of items in each. Long items go out as they are, so that
        clients that wait share them.
        """
        items = self._items
        each = PIECE_BYTES * len(items) // self.size
        head = self._head
        if each < _FEWEST:
            for item in items:
                yield head
                yield item
                head = self._separator
            yield self._tail if items else head + self._tail
            return
        for start in range(0, len(items), each):
            yield head + self._separator.join(items[start : start + each])
            head = self._separator
        yield self._tail


class CompressedBody(Payload):
    """A long body with gzip, which is compressed while the client takes it. Its length is not known before."""

    is_made = False

    def __init__(self, body: LongBody, *, content_type: str) -> None:
        super().__init__(body, content_type=content_type)
        self._body = body

    async def write(self, writer: AbstractStreamWriter) -> None:
        compressor = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
        async with aclosing(self._body.pieces()) as pieces:
            async for some in _together(pieces):
                made = await worker_thread.run_without_interpreter(partial(_compressed, compressor, some))
                if made:  # an empty chunk would end the response
                    await writer.write(made)
        await writer.write(compressor.flush())

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        raise TypeError("a compressed body is written, not decoded")


def is_made(response: web.StreamResponse) -> bool:
    """Whether the body of a response takes no more work than to send it."""
    body = response.body if isinstance(response, web.Response) else None
    return body.is_made if isinstance(body, LongBody | CompressedBody) else True


def gzipped(body: bytes) -> bytes:
    """A whole body with gzip."""
    compressor = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    return compressor.compress(body) + compressor.flush()


def _compressed(compressor: "zlib._Compress", pieces: Sequence[bytes]) -> bytes:
    return b"".join(map(compressor.compress, pieces))


async def _together(pieces: AsyncIterator[bytes]) -> AsyncIterator[list[bytes]]:
    """The pieces in groups that are compressed in one go."""
    some: list[bytes] = []
    size = 0
    async for piece in pieces:
        some.append(piece)
        size += len(piece)
        if size >= _COMPRESSED_TOGETHER:
            yield some
            some, size = [], 0
    if some:
        yield some
