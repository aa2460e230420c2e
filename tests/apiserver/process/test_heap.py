"""The heap gives memory back when much of it was freed."""

import asyncio
from collections.abc import Callable, Coroutine

import pytest

from aio_apiserver.apiserver.process import heap
from aio_apiserver.base.clock import ManualClock
from tests.own_process import run_alone

MEGABYTE = 1024 * 1024
BLOCKS = 60_000


async def give_back() -> None:
    """Free what lies below a block in use, and return when the process is 40 MB smaller."""
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
    assert blocks


async def give_back_large_blocks() -> None:
    """Free what lies between blocks in use. No time passes."""
    trimming = asyncio.ensure_future(heap.keep_trimmed(ManualClock()))
    await asyncio.sleep(0)
    bytearray(8 * MEGABYTE)  # after the end of such a block, glibc would put smaller ones into the heap
    blocks = [(bytearray(b"x") * (MEGABYTE // 4), bytes(1024)) for _ in range(160)]
    most = heap.resident()
    small = [one for _, one in blocks]
    del blocks

    assert most - heap.resident() >= 36 * MEGABYTE
    trimming.cancel()
    assert small


async def give_back_what_is_freed_during_a_trim() -> None:
    """Free some blocks while the heap is trimmed of others."""
    clock = ManualClock()
    trimming = asyncio.ensure_future(heap.keep_trimmed(clock))
    await asyncio.sleep(0)
    first, second = ([bytes(1024) for _ in range(BLOCKS)] for _ in range(2))
    most = heap.resident()
    del first[: BLOCKS - 1]

    clock.advance(3)
    await asyncio.sleep(0)  # a thread trims from now on
    del second[: BLOCKS - 1]
    async with asyncio.timeout(10):
        while most - heap.resident() < 80 * MEGABYTE:
            clock.advance(3)
            await asyncio.sleep(0)
    trimming.cancel()
    assert first
    assert second


@pytest.mark.parametrize("work", [give_back, give_back_large_blocks, give_back_what_is_freed_during_a_trim])
async def test_freed_memory_below_used_blocks_is_given_back(work: Callable[[], Coroutine[None, None, None]]) -> None:
    """In a process of its own: that of the other tests has free memory, from which the blocks would come."""
    await run_alone(work)
