"""Decompressed bodies: a gzip body as an aiohttp payload, decompressed while the client takes it.

Must hold: memory has the compressed body and one piece. The event loop runs other requests between two pieces.
"""

import asyncio
import zlib
from collections.abc import Iterator

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

PIECE_BYTES = 64 * 1024
_GZIP_WINDOW = 31
_ANY = "application/octet-stream"
"""The type of the payload; the response has its own."""


class DecompressedBody(Payload):
    """A part of a body."""

    def __init__(self, compressed: bytes, part: range) -> None:
        super().__init__(compressed, content_type=_ANY)
        self._compressed = compressed
        self._part = part
        self._size = len(part)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        body = b"".join(self._pieces())
        return body[self._part.start : self._part.stop].decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        start = 0
        for piece in self._pieces():
            wanted = piece[max(self._part.start - start, 0) : max(self._part.stop - start, 0)]
            start += len(piece)
            if wanted:
                await writer.write(wanted)  # does not wait for a client that reads as fast as it gets
            await asyncio.sleep(0)
            if start >= self._part.stop:
                return

    def _pieces(self) -> Iterator[bytes]:
        """The whole body in pieces."""
        decompressor, left = zlib.decompressobj(_GZIP_WINDOW), self._compressed
        while piece := decompressor.decompress(left, PIECE_BYTES):
            yield piece
            left = decompressor.unconsumed_tail
