"""Pacing: decodes stored objects in several turns of the event loop, and waits with a time limit."""

import asyncio
from collections.abc import Iterable

from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.stored_object import StoredObject
from aio_apiserver.storage.yielding import in_turns


async def hydrate(objects: Iterable[StoredObject], clock: Clock) -> None:
    """Decode the objects that are not decoded yet, in several turns. Raises Corrupt."""
    unread = [stored for stored in objects if stored.unread is not None]
    if unread:
        async for stored in in_turns(unread, clock):
            stored.hydrate()


async def within(seconds: float, expected: asyncio.Future[bool], clock: Clock) -> bool:
    """The future's result, or False after `seconds`. The future must have no other waiter. Raises the future's
    exception.
    """
    timer = asyncio.get_running_loop().create_task(clock.sleep(seconds))
    timer.add_done_callback(lambda _: settle(expected, False))
    try:
        return await expected
    finally:
        timer.cancel()


def settle(expected: asyncio.Future[bool], outcome: bool) -> None:
    """Set the result of a future that is not done or cancelled yet."""
    if not expected.done():
        expected.set_result(outcome)
