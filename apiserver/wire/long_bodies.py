"""Long bodies: long responses as aiohttp payloads, sent in pieces at the client's pace, with gzip if it accepts that.

One bytes object of many megabytes would be copied by each client, and TLS would encrypt it in one long step.

Must hold: the bytes go out in order. Memory holds the items of the list, which the cache has anyway, one piece, and the
write buffer of the connection. So many clients that list large objects take little memory. What a body holds beside the
pieces counts for its connection when the client does not read.
"""

import zlib
from abc import abstractmethod
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

from aio_apiserver.apiserver.wire.served_requests import PacedStreamWriter
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
_COMPRESSOR_BYTES = 256 * 1024
"""The memory of a compressor."""
_REFERENCE_BYTES = 8
_GZIP_LEVEL = 1
_GZIP_WINDOW = 31


class LongBody(Payload):
    """A body that is made in pieces. held: the number of objects that it holds for that."""

    def __init__(self, value: object, *, content_type: str, held: int) -> None:
        super().__init__(value, content_type=content_type)
        self.held_bytes = _REFERENCE_BYTES * held

    @abstractmethod
    def pieces(self) -> AsyncGenerator[bytes]:
        """The body in pieces."""

    async def write(self, writer: AbstractStreamWriter) -> None:
        hold(writer, self.held_bytes)
        async with aclosing(self.pieces()) as pieces:
            async for piece in pieces:
                await writer.write(piece)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        raise TypeError("a long body is written, not decoded")


class JoinedList(LongBody):
    """A list whose items are encoded: head, items with a separator between them, tail."""

    def __init__(
        self, head: bytes, tail: bytes, separator: bytes, items: Sequence[bytes], *, content_type: str
    ) -> None:
        super().__init__(items, content_type=content_type, held=len(items))
        self._head = head
        self._items = items
        self._tail = tail
        self._separator = separator
        between = max(len(items) - 1, 0) * len(separator)
        self.length = self._size = len(head) + sum(map(len, items)) + between + len(tail)

    def fitting(self) -> "bytes | LongBody":
        """The body itself when it is better sent in pieces, else its bytes."""
        return self if self.length >= _LONG_BYTES else self.joined()

    def joined(self) -> bytes:
        """The whole body."""
        return b"".join((self._head, self._separator.join(self._items), self._tail))

    async def pieces(self) -> AsyncGenerator[bytes]:
        """Pieces of about the same size, with the same number of items in each. Long items go out as they are, so that
        clients that wait share them.
        """
        items = self._items
        each = PIECE_BYTES * len(items) // self.length
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

    def __init__(self, body: LongBody, *, content_type: str, user: str) -> None:
        super().__init__(body, content_type=content_type)
        self._body = body
        self._user = user

    async def write(self, writer: AbstractStreamWriter) -> None:
        hold(writer, self._body.held_bytes + _COMPRESSOR_BYTES)
        compressor = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
        async with aclosing(self._body.pieces()) as pieces:
            waiting: list[bytes] = []
            size = 0
            async for piece in pieces:
                waiting.append(piece)
                size += len(piece)
                if size >= _COMPRESSED_TOGETHER:
                    await self._write(writer, compressor, waiting)
                    size = 0
            await self._write(writer, compressor, waiting)
        await writer.write(compressor.flush())

    async def _write(self, writer: AbstractStreamWriter, compressor: "zlib._Compress", waiting: list[bytes]) -> None:
        """Compress pieces in one go, and write the result."""
        made = await worker_thread.run_without_interpreter(partial(_compressed, compressor, waiting), self._user)
        waiting.clear()
        if made:  # an empty chunk would end the response
            await writer.write(made)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        raise TypeError("a compressed body is written, not decoded")


def hold(writer: AbstractStreamWriter, size: int) -> None:
    """Count what the response holds for a client that does not read."""
    if isinstance(writer, PacedStreamWriter):
        writer.hold(size)


def gzipped(body: bytes) -> bytes:
    """A whole body with gzip."""
    compressor = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    return compressor.compress(body) + compressor.flush()


def _compressed(compressor: "zlib._Compress", pieces: Sequence[bytes]) -> bytes:
    return b"".join(map(compressor.compress, pieces))
