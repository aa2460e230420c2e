"""WorkQueue: keys that want to be looked at, each once however often it was said.

Must hold: a key is in the hands of at most one worker; what is said of it meanwhile is not lost; a key that fails again
and again waits longer each time.
"""

import asyncio
from collections import Counter

from storage.clock import Clock
from storage.tasks import Tasks

_FIRST_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE_SECONDS = 30.0
_MOST_DOUBLINGS = 16


class WorkQueue:
    """Of one controller."""

    def __init__(self, clock: Clock, tasks: Tasks) -> None:
        self._clock = clock
        self._tasks = tasks
        self._waiting: dict[str, None] = {}
        self._active: set[str] = set()
        self._again: set[str] = set()
        self._timers: dict[str, tuple[float, asyncio.Task[None]]] = {}
        self._failures: Counter[str] = Counter()
        self._has_work = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, key: str) -> None:
        """Have a key looked at as soon as there is somebody to do it."""
        if key in self._active:
            self._again.add(key)
            return
        self._waiting[key] = None
        self._has_work.set()

    def add_after(self, key: str, seconds: float) -> None:
        """Have it looked at later; the earliest such time counts."""
        due = self._clock.monotonic() + seconds
        timer = self._timers.get(key)
        if timer is not None:
            if timer[0] <= due:
                return
            timer[1].cancel()
        self._timers[key] = due, self._tasks.spawn(self._add_later(key, seconds), name=f"look at {key} later")

    def retry(self, key: str, *, at_most: float = _LONGEST_PAUSE_SECONDS) -> None:
        """It did not work: have it looked at again after a pause."""
        doublings = min(self._failures[key], _MOST_DOUBLINGS)
        self._failures[key] += 1
        self.add_after(key, min(_FIRST_PAUSE_SECONDS * 2**doublings, at_most))

    def forget(self, key: str) -> None:
        """It did work: the next failure is a first one."""
        del self._failures[key]

    async def take(self) -> str:
        """The next key; `done` gives it back."""
        while not self._waiting:
            self._has_work.clear()
            await self._has_work.wait()
        key = next(iter(self._waiting))
        del self._waiting[key]
        self._active.add(key)
        return key

    def done(self, key: str) -> None:
        self._active.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    async def _add_later(self, key: str, seconds: float) -> None:
        await self._clock.sleep(seconds)
        del self._timers[key]
        self.add(key)
