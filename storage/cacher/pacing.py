"""Turns: how much work one turn of the event loop may carry, and waiting that ends in time.

Must hold: whatever the number and the size of the objects, a loop that counts its steps here holds others up for some
10 ms and one step.
"""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

from storage.clock import Clock
from storage.stored_object import StoredObject

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


async def within(seconds: float, waiting: Coroutine[Any, Any, object], clock: Clock) -> bool:
    """Run `waiting` for so long at the most; whether it came to its end. Raises what it raises."""
    loop = asyncio.get_running_loop()
    work, timer = loop.create_task(waiting), loop.create_task(clock.sleep(seconds))
    try:
        await asyncio.wait((work, timer), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            return False
        work.result()
        return True
    finally:
        work.cancel()
        timer.cancel()
        await asyncio.gather(work, timer, return_exceptions=True)
