"""Clock steps: lets the time of a server pass step by step, and waits at each step until all due work is done.

An hour passes as on a running server, in the time that the work of an hour takes. Each sleeper wakes at its own time.
Its writes, and the reactions of the controllers, are done before the next sleeper wakes. Must hold: the same state and
the same steps give the same order. A task that does not settle is named in an error.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aio_apiserver.storage.factory.factory import StorageFactory
from aio_apiserver.testing.bench.clock import MovableClock

_QUIET_TURNS = 12
"""Iterations of the event loop without anything new, after which all tasks have reacted."""
MOST_SECONDS = 30.0
_BUSY_SECONDS = 0.1
_PAUSE_SECONDS = 0.001

IsIdle = Callable[[], bool]


class NotSettled(Exception):
    """The woken tasks do not settle."""


class ClockSteps:
    """Moves the clock of one server. `is_idle`: whether its controllers are idle."""

    def __init__(self, clock: MovableClock, storage: StorageFactory) -> None:
        self._clock = clock
        self._storage = storage
        self._is_alone = asyncio.Lock()
        self._shown = 0
        """The revision that all caches have seen."""
        self.is_idle: IsIdle = lambda: True

    async def settle(self) -> None:
        """Wait until all reactions to writes are done, except those that wait for time. Raises NotSettled."""
        async with self._is_alone:
            await self._settle()

    async def advance(self, seconds: float) -> None:
        """Let time pass, with everything that is due in it. Raises ValueError, NotSettled."""
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
        """Go to a moment at once. Sleepers that are due by then wake there, once. Raises NotSettled."""
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
        """Hold the clock, for one caller at a time."""
        async with self._is_alone:
            was_held = self._clock.is_held
            self._clock.hold()
            try:
                yield
            finally:
                if not was_held:
                    self._clock.release()

    async def _settle(self) -> None:
        """Return when all tasks wait for time or for a client."""
        while (revision := await self._be_quiet()) != self._shown:
            await self._storage.catch_up(revision)
            self._shown = revision

    async def _be_quiet(self) -> int:
        """Wait until no task has work. Returns the revision of the store then."""
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
