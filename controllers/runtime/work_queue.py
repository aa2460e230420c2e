"""Work queue: the keys that a controller has to reconcile, each at most once, as in client-go.

`add_after` waits by the product's clock; retries wait by its `patience`. Must hold: at most one worker has a key. A key
that is added while a worker has it is not lost. Repeated failures of a key lengthen its pause.
"""

import asyncio
from collections import Counter
from collections.abc import Callable

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.controllers.runtime.queue_measures import QueueMeasures

_FIRST_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE_SECONDS = 30.0
_MOST_DOUBLINGS = 16
_SOON_SECONDS = 0.5


class WorkQueue:
    """The queue of one controller."""

    def __init__(self, clock: Clock, tasks: Tasks) -> None:
        self.measures = QueueMeasures(clock.patience)
        self._waiting: dict[str, None] = {}
        self._active: set[str] = set()
        self._again: set[str] = set()
        self._due = _Timers(clock, tasks, self.add)
        self._again_soon = _Timers(clock.patience, tasks, self.add)
        self._failures: Counter[str] = Counter()
        self._has_work = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_idle(self) -> bool:
        """Whether no key waits, is being worked on, or will be retried soon. Keys of `add_after` do not count."""
        return not (self._waiting or self._active or self._again_soon.has_any_within(_SOON_SECONDS))

    def add(self, key: str) -> None:
        """Add a key for the next free worker."""
        if key in self._active:
            self._again.add(key)
            return
        if key not in self._waiting:
            self.measures.added(key)
            self.wait(key)
            self._waiting[key] = None
        self._has_work.set()

    def wait(self, key: str) -> None:
        """Called with a key that begins to wait."""

    def next(self) -> str:
        """The waiting key that leaves first: the oldest."""
        return next(iter(self._waiting))

    def add_after(self, key: str, seconds: float) -> None:
        """Add a key after this time; the earliest time wins."""
        self._due.set(key, seconds)

    def recheck_after(self, key: str, seconds: float) -> None:
        """Add a key after this time, in which another component has to act."""
        self._again_soon.set(key, seconds)

    def retry(self, key: str, *, at_most: float = _LONGEST_PAUSE_SECONDS) -> None:
        """Add a failed key again after a pause."""
        self.measures.retries += 1
        doublings = min(self._failures[key], _MOST_DOUBLINGS)
        self._failures[key] += 1
        self.recheck_after(key, min(_FIRST_PAUSE_SECONDS * 2**doublings, at_most))

    def forget(self, key: str) -> None:
        """The key succeeded: reset its count of failures."""
        del self._failures[key]

    async def take(self) -> str:
        """The next key; `done` ends the work on it."""
        while not self._waiting:
            self._has_work.clear()
            await self._has_work.wait()
        key = self.next()
        del self._waiting[key]
        self._active.add(key)
        self.measures.started(key)
        return key

    def done(self, key: str) -> None:
        self._active.discard(key)
        self.measures.done(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)


class _Timers:
    """One timer for each key. The earliest time wins."""

    def __init__(self, clock: Clock, tasks: Tasks, add: Callable[[str], None]) -> None:
        self._clock = clock
        self._tasks = tasks
        self._add = add
        self._running: dict[str, tuple[float, asyncio.Task[None]]] = {}

    def set(self, key: str, seconds: float) -> None:
        """Add a key after this time."""
        due = self._clock.monotonic() + seconds
        timer = self._running.get(key)
        if timer is not None:
            if timer[0] <= due:
                return
            timer[1].cancel()
        self._running[key] = due, self._tasks.spawn(self._add_later(key, seconds), name=f"look at {key} later")

    def has_any_within(self, seconds: float) -> bool:
        end = self._clock.monotonic() + seconds
        return any(due <= end for due, _ in self._running.values())

    async def _add_later(self, key: str, seconds: float) -> None:
        await self._clock.sleep(seconds)
        del self._running[key]
        self._add(key)
