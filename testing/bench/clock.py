"""Clock: MovableClock, the time of a server under test. It runs like the system's until a test holds or moves it.

It runs on the server's event loop. `now` and `is_held` may be read from any thread. One timer serves all sleepers, so
that holding the clock holds them all. Must hold: sleepers wake in the order of their times, and at one time in the
order of their calls. The monotonic time does not decrease, even when `now` moves back.

    now        10:00:00 runs, 10:00:07 held, moved to 11:00:07, released, 11:00:08 ...
    monotonic  the same seconds on a scale of its own
"""

import asyncio
import heapq
import itertools
import math
import time
from typing import Any, NamedTuple

from aio_apiserver.base.clock import Clock, SystemClock

_GRAINS = 64
"""The clock is held at a 64th of a second, and sleepers wake at one.

These are whole microseconds and exact in binary, so that computed times (the next minute, a deadline) are met exactly.
Sleepers of nearly the same time wake together, which makes fewer steps.
"""
_SHORTEST_SLEEP = 1e-6
"""A shorter sleep would be lost in rounding, and its task would sleep again and again at the same moment."""
_LONGEST_TIMER = 3600.0
_MANY_CANCELLED = 64


class _Sleeper(NamedTuple):
    due: float
    order: int
    waiter: "asyncio.Future[None]"
    task: "asyncio.Task[Any]"


class MovableClock:
    """Starts with the system's time, or is held at the given one."""

    def __init__(self, now: float | None = None, *, patience: Clock | None = None) -> None:
        self._patience = patience or SystemClock()
        self._ahead = 0.0
        """The offset from the system's monotonic time."""
        self._held: float | None = None
        self._epoch = time.time() - time.monotonic()
        """The value of `now` when `monotonic` is 0."""
        self._sleepers: list[_Sleeper] = []
        self._order = itertools.count()
        self._cancelled = 0
        self._timer: asyncio.TimerHandle | None = None
        self._awake: set[asyncio.Task[Any]] = set()
        self._beginning = now
        if now is not None:
            self.restart()

    def copy(self) -> "MovableClock":
        """Another clock with the same time, held if this one is."""
        other = MovableClock(self._beginning, patience=self._patience)
        other._ahead, other._held, other._epoch = self._ahead, self._held, self._epoch
        return other

    # # For the server

    def now(self) -> float:
        return self._epoch + self.monotonic()

    def monotonic(self) -> float:
        return time.monotonic() + self._ahead if self._held is None else self._held

    async def sleep(self, seconds: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._awake.discard(task)
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        due = _next_grain(self.monotonic() + max(seconds, _SHORTEST_SLEEP))
        heapq.heappush(self._sleepers, _Sleeper(due, next(self._order), waiter, task))
        self._arm()
        try:
            await waiter
        finally:
            if waiter.cancelled():
                self._forget_cancelled()

    @property
    def patience(self) -> Clock:
        return self._patience

    # # For tests

    @property
    def is_held(self) -> bool:
        return self._held is not None

    @property
    def next_due(self) -> float | None:
        """When the next sleeper wakes, in monotonic time."""
        while self._sleepers and self._sleepers[0].waiter.done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0].due if self._sleepers else None

    @property
    def awake(self) -> list[str]:
        """The tasks that `move_to` has woken and that have neither ended nor slept again."""
        if self._awake:
            self._awake = {task for task in self._awake if not task.done()}
        return [task.get_name() for task in self._awake]

    def hold(self) -> None:
        """Hold the clock."""
        if self._held is None:
            now = _next_grain(self.now())
            self._held = _next_grain(self.monotonic())
            self.turn_to(now)
            self._arm()

    def release(self) -> None:
        """Let the clock run again."""
        if self._held is not None:
            self._ahead, self._held = self._held - time.monotonic(), None
            self._arm()

    def turn_to(self, now: float) -> None:
        """Show another time, without waking a sleeper."""
        self._epoch = now - self.monotonic()

    def restart(self) -> None:
        """Return to the time of the start."""
        if self._beginning is not None:
            self.hold()
            self.turn_to(self._beginning)
            return
        self.release()
        self.turn_to(time.time())

    def move_to(self, moment: float) -> None:
        """Move a held clock to a monotonic time, and wake all sleepers that are due by then."""
        assert self._held is not None
        self._held = max(self._held, moment)
        self._wake(is_followed=True)

    # # Internal

    def _arm(self) -> None:
        """Start the timer of the earliest sleeper, when the clock runs."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self.next_due
        if due is None or self._held is not None:
            return
        seconds = min(max(due - self.monotonic(), 0.0), _LONGEST_TIMER)
        self._timer = asyncio.get_running_loop().call_later(seconds, self._ring)

    def _ring(self) -> None:
        self._wake(is_followed=False)
        self._arm()

    def _wake(self, *, is_followed: bool) -> None:
        now = self.monotonic()
        while (due := self.next_due) is not None and due <= now:
            sleeper = heapq.heappop(self._sleepers)
            sleeper.waiter.set_result(None)
            if is_followed:
                self._awake.add(sleeper.task)

    def _forget_cancelled(self) -> None:
        """Remove cancelled sleepers once there are many, because their times may be far away."""
        self._cancelled += 1
        if self._cancelled > _MANY_CANCELLED and self._cancelled > len(self._sleepers) // 2:
            self._sleepers = [one for one in self._sleepers if not one.waiter.done()]
            heapq.heapify(self._sleepers)
            self._cancelled = 0


def _next_grain(seconds: float) -> float:
    return math.ceil(seconds * _GRAINS) / _GRAINS
