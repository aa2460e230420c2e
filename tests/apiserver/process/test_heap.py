"""The heap gives memory back when much of it was freed."""

import asyncio

import pytest

from aio_apiserver.apiserver.process import heap
from aio_apiserver.storage.clock import ManualClock

MEGABYTE = 1024 * 1024
BLOCKS = 60_000


async def test_freed_memory_below_used_blocks_is_given_back() -> None:
    clock = ManualClock()
    trimming = asyncio.ensure_future(heap.keep_trimmed(clock))
    await asyncio.sleep(0)
    blocks = [bytes(1024) for _ in range(BLOCKS)]
    most = heap.resident()
    del blocks[: BLOCKS - 1]

    clock.advance(3)
    async with asyncio.timeout(10):
        while most - heap.resident() < 40 * MEGABYTE:  # noqa: ASYNC110 the kernel tells nobody
            await asyncio.sleep(0)

    trimming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trimming
    assert blocks
