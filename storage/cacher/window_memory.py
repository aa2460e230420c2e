"""window_memory: WindowMemory, the bytes that the windows of all resources hold together.

A change holds the object before it: the object behind it is in the present state, or the next change of its key holds
it. Two things make room:

    bytes   when all windows hold more than the limit, the windows with the most bytes let go of their oldest changes
    age     a timer lets go of changes that are not fresh any more, in windows with more than a few changes or bytes

Must hold: all windows together hold the limit at most.
"""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks

LIMIT_BYTES = 24 << 20
"""For one process: 4,000 changes of usual pods."""
_ROOM_SHARE = 16
"""The share of the limit that is freed at a time, so that few changes search for the largest window."""
_PERIOD_SECONDS = 15.0


class Sheddable(Protocol):
    """A window, as its memory knows it."""

    held_bytes: int

    def shed(self, size: int) -> None:
        """Let go of the oldest changes, until so many bytes are freed."""
        ...

    def shed_stale(self, now: float) -> None:
        """Let go of changes that are not fresh, beyond what each window may keep."""
        ...


class WindowMemory:
    """The account of all windows."""

    def __init__(self, clock: Clock, *, limit: int = LIMIT_BYTES) -> None:
        self.history_turn = asyncio.Lock()
        """Held by the one window that reads older changes from the store."""
        self._clock = clock
        self._limit = limit
        self._tasks = Tasks()
        self._windows: set[Sheddable] = set()
        self._bytes = self._shed = 0

    def start(self) -> None:
        """Start the timer."""
        self._tasks.spawn(self._shed_stale(), name="stale changes")

    def join(self, window: Sheddable) -> None:
        """Count the bytes of a window from now on."""
        self._windows.add(window)

    def leave(self, window: Sheddable) -> None:
        """A window that holds nothing ends."""
        self._windows.discard(window)

    def grow(self, size: int) -> None:
        """A window holds so many more bytes. Windows may let go of changes before this returns."""
        self._bytes += size
        if self._bytes > self._limit:
            self._make_room()

    def shrink(self, size: int) -> None:
        """A window holds so many bytes less."""
        self._bytes -= size

    async def close(self) -> None:
        await self._tasks.close()

    def statistics(self) -> Mapping[str, int]:
        return {"bytes": self._bytes, "limit": self._limit, "bytes_shed": self._shed}

    def _make_room(self) -> None:
        before = self._bytes
        most = self._limit - self._limit // _ROOM_SHARE
        while self._bytes > most:
            max(self._windows, key=_held_bytes).shed(self._bytes - most)
        self._shed += before - self._bytes

    async def _shed_stale(self) -> None:
        while True:
            await self._clock.sleep(_PERIOD_SECONDS)
            now = self._clock.monotonic()
            for window in self._windows:
                window.shed_stale(now)


def _held_bytes(window: Sheddable) -> int:
    return window.held_bytes
