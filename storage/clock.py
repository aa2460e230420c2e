"""Time, handed in: everything that waits or expires asks a Clock and never the system.

There are two sorts of waiting. What the product says of time (how long an object lives, when a job is due) is told by
the clock itself. How long to bear with others (an answer that does not come, the pause before another try, a share of
the processor, how long something took) is told by its `patience`: a test that holds the clock must not hold those.

Must hold: `monotonic` never goes back; `sleep` of a held clock returns only when somebody advances it.
"""

import asyncio
import heapq
import itertools
import time
from typing import Protocol


class Clock(Protocol):
    """What a component may know about time."""

    def now(self) -> float:
        """Seconds since the epoch, for what is shown and stored."""
        ...

    def monotonic(self) -> float:
        """Seconds on a scale that only grows, for durations and deadlines."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Suspend the caller for this long."""
        ...

    @property
    def patience(self) -> "Clock":
        """What measures how long others are waited for."""
        ...


class SystemClock:
    """The machine's own time, which every request asks for several times: nothing stands in between."""

    now = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    @property
    def patience(self) -> Clock:
        return self


class ManualClock:
    """A clock that stands still until `advance` moves it, patience included; sleepers wake in the order in which they
    are due.
    """

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now
        self._elapsed = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._now + self._elapsed

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiter = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), waiter))
        await waiter

    @property
    def patience(self) -> Clock:
        return self

    def advance(self, seconds: float) -> None:
        """Move time on and wake everybody whose deadline has come."""
        self._elapsed += seconds
        while self._sleepers and self._sleepers[0][0] <= self._elapsed:
            _, _, waiter = heapq.heappop(self._sleepers)
            if not waiter.done():
                waiter.set_result(None)
