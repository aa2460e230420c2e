"""Turns: how much work one turn of the event loop may carry, and waiting that ends in time.

Must hold: whatever the number and the size of the objects, a loop that counts its steps here holds others up for some
10 ms and one step.
"""

import asyncio
from collections.abc import Iterable

from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.stored_object import StoredObject

MAX_STEPS = 512
MAX_SECONDS = 0.01


class Share:
    """The share of one turn: so many steps or so much time, whichever is used up first."""

    __slots__ = ("_clock", "_ends", "_steps")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._steps = 0
        self._ends = clock.monotonic() + MAX_SECONDS

    def step(self) -> bool:
        """Count a step; whether it was the last one of this turn."""
        self._steps += 1
        return self._steps >= MAX_STEPS or self._clock.monotonic() >= self._ends


async def hydrate(objects: Iterable[StoredObject], clock: Clock) -> None:
    """Decode what has not been decoded yet, letting others run in between. Raises Corrupt."""
    share = Share(clock)
    for stored in [stored for stored in objects if not stored.is_hydrated]:
        stored.hydrate()
        if share.step():
            await asyncio.sleep(0)
            share = Share(clock)


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
