"""Turns: long work that lets others have theirs."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

T = TypeVar("T")

AT_ONCE = 200
"""How many objects are decoded before others have their turn: a few milliseconds of work."""


async def in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """The items, with a rest after every so many."""
    for number, item in enumerate(items, 1):
        yield item
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
