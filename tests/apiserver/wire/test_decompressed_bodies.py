"""DecompressedBody: the event loop runs other requests while a long body is written."""

import asyncio
import gzip

from aiohttp.abc import AbstractStreamWriter

from aio_apiserver.apiserver.wire.decompressed_bodies import PIECE_BYTES, DecompressedBody

PIECES = 4
BODY = bytes(PIECES * PIECE_BYTES)


class EagerClient(AbstractStreamWriter):
    """The writer for a client that takes all bytes at once."""

    def __init__(self) -> None:
        self.taken = 0

    async def write(self, chunk: object) -> None:
        assert isinstance(chunk, bytes)
        self.taken += len(chunk)

    async def write_eof(self, chunk: bytes = b"") -> None:
        self.taken += len(chunk)

    async def drain(self) -> None:
        """All bytes are taken."""

    def enable_compression(self, encoding: str = "deflate", strategy: int | None = None) -> None:
        """The body is sent as it is."""

    def enable_chunking(self) -> None:
        """The body has a length."""

    async def write_headers(self, status_line: str, headers: object) -> None:
        """The head is not looked at."""


async def test_other_requests_run_between_the_pieces_for_a_client_that_reads_fast() -> None:
    client, seen = EagerClient(), []

    async def other_request() -> None:
        while client.taken < len(BODY):
            seen.append(client.taken)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(other_request())
        tasks.create_task(DecompressedBody(gzip.compress(BODY), range(len(BODY))).write(client))

    assert len(set(seen)) == PIECES
