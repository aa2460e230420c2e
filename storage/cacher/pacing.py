"""Pacing: decoding that lets other tasks run in between, and waiting that ends in time."""

import asyncio
from collections.abc import Iterable

from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.stored_object import StoredObject
from aio_apiserver.storage.yielding import in_turns


async def hydrate(objects: Iterable[StoredObject], clock: Clock) -> None:
    """Decode what has not been decoded yet, letting others run in between. Raises Corrupt."""
    async for stored in in_turns([stored for stored in objects if not stored.is_hydrated], clock):
        stored.hydrate()


async def within(seconds: float, expected: asyncio.Future[bool], clock: Clock) -> bool:
    """What is expected, or False when it has not come by then; nobody else may wait for it. Raises what it raises."""
    timer = asyncio.get_running_loop().create_task(clock.sleep(seconds))
    timer.add_done_callback(lambda _: settle(expected, False))
    try:
        return await expected
    finally:
        timer.cancel()


def settle(expected: asyncio.Future[bool], outcome: bool) -> None:
    """Tell who waits for it, if anybody still does."""
    if not expected.done():
        expected.set_result(outcome)
