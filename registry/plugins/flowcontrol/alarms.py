"""Alarms: callbacks at given times, with one sleeping task for all of them.

It does not know requests. Must hold: a callback runs once, at its time or shortly after, unless it was cancelled.
Without alarms no task sleeps. Cancelled alarms do not accumulate.
"""

import heapq
import itertools
from asyncio import Task
from collections.abc import Callable

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks

Call = Callable[[], None]

_SPARE = 64
"""The number of cancelled alarms that are kept before the heap is rebuilt."""


class Alarms:
    """The alarms of one owner, which closes them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tasks = Tasks()
        self._order = itertools.count()
        self._heap: list[tuple[float, int]] = []
        self._calls: dict[int, Call] = {}
        self._sleeper: Task[None] | None = None
        self._wakes_at = 0.0

    def at(self, when: float, call: Call) -> int:
        """Set a callback at a monotonic time. Returns a number for `take_back`."""
        number = next(self._order)
        self._calls[number] = call
        heapq.heappush(self._heap, (when, number))
        if self._sleeper is None or when < self._wakes_at:
            self._sleep(when)
        return number

    def take_back(self, number: int) -> None:
        """Cancel a callback, if it has not run yet."""
        self._calls.pop(number, None)
        if len(self._heap) > 2 * len(self._calls) + _SPARE:
            self._heap = [one for one in self._heap if one[1] in self._calls]
            heapq.heapify(self._heap)

    async def close(self) -> None:
        """Cancel all callbacks."""
        self._calls.clear()
        await self._tasks.close()

    def _sleep(self, when: float) -> None:
        if self._sleeper is not None:
            self._sleeper.cancel()
        self._wakes_at = when
        self._sleeper = self._tasks.spawn(self._run(), name="flow control alarms")

    async def _run(self) -> None:
        while self._calls:
            await self._clock.sleep(self._wakes_at - self._clock.monotonic())
            self._ring()
            if self._heap:
                self._wakes_at = self._heap[0][0]
        self._sleeper = None

    def _ring(self) -> None:
        now = self._clock.monotonic()
        while self._heap and (self._heap[0][0] <= now or self._heap[0][1] not in self._calls):
            _, number = heapq.heappop(self._heap)
            call = self._calls.pop(number, None)
            if call is not None:
                call()
