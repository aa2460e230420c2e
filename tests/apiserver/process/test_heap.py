"""The heap gives memory back when much of it was freed."""

import asyncio
import sys
from asyncio.subprocess import PIPE, STDOUT

from aio_apiserver.apiserver.process import heap
from aio_apiserver.storage.clock import ManualClock
from tests.paths import ROOT

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


async def test_freed_memory_below_used_blocks_is_given_back() -> None:
    """In a process of its own: that of the other tests has free memory, from which the blocks would come."""
    code = f"import asyncio; from {__name__} import give_back; asyncio.run(give_back())"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", code, cwd=ROOT, stdout=PIPE, stderr=STDOUT)
    said, _ = await child.communicate()

    assert (child.returncode, said.decode()) == (0, "")
