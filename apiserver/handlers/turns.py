"""Turns: long work that lets others have theirs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

THREAD_FROM_BYTES = 64 * 1024
"""Work on longer bodies would hold up the event loop."""

AT_ONCE = 200
"""How many objects are decoded before others have their turn: a few milliseconds of work."""


async def in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """The items, with a rest after every so many."""
    for number, item in enumerate(items, 1):
        yield item
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)


async def aside(work: Callable[[], T], size: int) -> T:
    """What pure work on so many bytes returns; much of it is done in a thread."""
    return work() if size < THREAD_FROM_BYTES else await asyncio.to_thread(work)
