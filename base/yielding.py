"""Yielding: runs a loop over many Kubernetes objects on the event loop, with pauses for other tasks.

Must hold: a loop that counts its steps here holds the event loop for about 10 ms and one step. The number and the size
of the items do not matter.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TypeVar

from aio_apiserver.base.clock import Clock, SystemClock

T = TypeVar("T")

MAX_STEPS = 512
MAX_SECONDS = 0.01
_MAX_SLICE = 32
_SLICE_SECONDS = 0.001
_MACHINE: Clock = SystemClock()
"""The machine's time passes, whatever clock a server is configured with."""


class Share:
    """One turn of the event loop: a number of steps or a time, and it ends with the first that is used up."""

    __slots__ = ("_clock", "_ends", "_steps")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._steps = 0
        self._ends = clock.monotonic() + MAX_SECONDS

    def step(self) -> bool:
        """Count a step; returns whether it was the last one of this turn."""
        self._steps += 1
        return self._steps >= MAX_STEPS or self._clock.monotonic() >= self._ends


async def in_turns(items: Iterable[T], clock: Clock = _MACHINE) -> AsyncIterator[T]:
    """The items, with a pause for other tasks whenever a turn is used up."""
    share = Share(clock)
    for item in items:
        yield item
        if share.step():
            await asyncio.sleep(0)
            share = Share(clock)


async def in_slices(items: Sequence[T], clock: Clock = _MACHINE) -> AsyncIterator[Sequence[T]]:
    """The items in slices of at most 32, with a pause whenever a turn is used up.

    Slices are as long as their items take about a millisecond: one large object is a slice, so that a slice of many
    does not hold the event loop. Short work has less overhead so than with `in_turns`.
    """
    start, size, ends = 0, 1, clock.monotonic() + MAX_SECONDS
    while start < len(items):
        began = clock.monotonic()
        yield items[start : start + size]
        ended = clock.monotonic()
        start += size
        size = min(2 * size, _MAX_SLICE) if ended - began < _SLICE_SECONDS else max(size // 2, 1)
        if ended >= ends and start < len(items):
            await asyncio.sleep(0)
            ends = clock.monotonic() + MAX_SECONDS
