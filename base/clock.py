"""Clock: the time source that is passed to every component that waits or expires.

There are two uses of time. The clock itself measures the product's time: the lifetime of an object, the schedule of a
job. Its `patience` measures waiting for others: timeouts, pauses between attempts, CPU shares, latencies. A test that
stops the clock must not stop these.

Must hold: `monotonic` does not go back. `sleep` of a manual clock returns when the test advances it.
"""

import asyncio
import heapq
import itertools
import time
from typing import Protocol


class Clock(Protocol):
    """A source of time."""

    def now(self) -> float:
        """Seconds since the epoch, for values that are shown or stored."""
        ...

    def monotonic(self) -> float:
        """Seconds on a monotonic scale, for durations and deadlines."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Suspend the caller for this time."""
        ...

    @property
    def patience(self) -> "Clock":
        """The clock for timeouts and waiting for others."""
        ...


class SystemClock:
    """The system's time. The methods are the functions of `time` themselves, since each request calls them several
    times.
    """

    now = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    @property
    def patience(self) -> Clock:
        return self


class ManualClock:
    """A clock that stands still until `advance` moves it, `patience` included. Sleepers wake in the order of their
    deadlines.
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
        """Advance the time and wake all sleepers whose deadline has come."""
        self._elapsed += seconds
        while self._sleepers and self._sleepers[0][0] <= self._elapsed:
            _, _, waiter = heapq.heappop(self._sleepers)
            if not waiter.done():
                waiter.set_result(None)
