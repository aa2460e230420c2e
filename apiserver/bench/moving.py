"""Moving: lets the time of a server pass, step by step, and waits at each step until what was due has run.

An hour passes as it does on a server that runs, in as long as the work of an hour takes: each sleeper wakes at its own
moment, sees that moment on the clock, and what it causes (writes, what controllers make of them, and of that) is done
before the next one wakes. Must hold: the same state and the same steps give the same order; who never settles is named
in an error, not waited for without end.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aio_apiserver.apiserver.bench.clock import MovableClock
from aio_apiserver.storage.factory.factory import StorageFactory

_QUIET_TURNS = 12
"""Turns of the event loop without anything new, behind which nobody who has been told of something is still at it."""
MOST_SECONDS = 30.0
_BUSY_SECONDS = 0.1
_PAUSE_SECONDS = 0.001

IsIdle = Callable[[], bool]


class NotSettled(Exception):
    """What was woken goes on and on."""


class Moving:
    """Of one server. `is_idle` tells of its controllers, once it has any."""

    def __init__(self, clock: MovableClock, storage: StorageFactory) -> None:
        self._clock = clock
        self._storage = storage
        self._is_alone = asyncio.Lock()
        self._shown = 0
        """The revision that everybody has been shown."""
        self.is_idle: IsIdle = lambda: True

    async def settle(self) -> None:
        """Let everything happen that follows from what was written, but for what time brings. Raises NotSettled."""
        async with self._is_alone:
            await self._settle()

    async def advance(self, seconds: float) -> None:
        """Let so much time pass, and everything happen in it that is due. Raises ValueError, NotSettled."""
        if seconds < 0:
            raise ValueError("time does not run backwards; it can be set to an earlier moment")
        async with self._standing():
            end = self._clock.monotonic() + seconds
            await self._settle()
            while (due := self._clock.next_due) is not None and due <= end:
                self._clock.move_to(due)
                await self._settle()
            self._clock.move_to(end)

    async def set(self, now: float) -> None:
        """Be at a moment at once: who was due by then wakes there, once. Raises NotSettled."""
        async with self._standing():
            await self._settle()
            seconds = now - self._clock.now()
            if seconds < 0:
                self._clock.turn_to(now)
                return
            self._clock.move_to(self._clock.monotonic() + seconds)
            await self._settle()

    @asynccontextmanager
    async def _standing(self) -> AsyncIterator[None]:
        """One moves the clock at a time, and it does not run meanwhile."""
        async with self._is_alone:
            was_held = self._clock.is_held
            self._clock.hold()
            try:
                yield
            finally:
                if not was_held:
                    self._clock.release()

    async def _settle(self) -> None:
        """Return when nothing goes on but what waits for time or for somebody else."""
        while (revision := await self._be_quiet()) != self._shown:
            await self._storage.catch_up(revision)
            self._shown = revision

    async def _be_quiet(self) -> int:
        """Return when nobody has anything to do; the revision of the store then."""
        patience = self._clock.patience
        began, revision, quiet = patience.monotonic(), 0, 0
        while quiet < _QUIET_TURNS or not self.is_idle():
            present = await self._storage.current_revision()
            is_quiet = present == revision and not self._clock.awake and quiet < _QUIET_TURNS
            revision, quiet = present, quiet + 1 if is_quiet else 0
            waited = patience.monotonic() - began
            if waited > MOST_SECONDS:
                raise NotSettled(f"not done after {MOST_SECONDS:.0f} s: {self._busy()}")
            await asyncio.sleep(0 if is_quiet or waited < _BUSY_SECONDS else _PAUSE_SECONDS)
        return revision

    def _busy(self) -> str:
        if awake := sorted(self._clock.awake):
            return ", ".join(awake)
        return "writes go on" if self.is_idle() else "the controllers"
