"""Gate: closed until the cache has been filled for the first time; it stays open from then on.

Must hold: nobody waits longer than told; who waited in vain learns what keeps the cache from filling.
"""

import asyncio

from storage.cacher.pacing import within
from storage.clock import Clock
from storage.errors import Closed, Initializing, StorageError


class Gate:
    """What requests wait at."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._moved = asyncio.Event()
        self._obstacle: StorageError | None = None
        self.is_open = False
        self.is_closed = False

    def open(self) -> None:
        self.is_open = True
        self._moved.set()

    def close(self) -> None:
        """Let nobody through any more."""
        self.is_open = False
        self.is_closed = True
        self._moved.set()

    def report(self, obstacle: StorageError) -> None:
        """Remember why the cache could not be filled."""
        self._obstacle = obstacle

    async def wait(self, seconds: float) -> None:
        """Return when the gate is open. Raises Initializing after so many seconds, Closed."""
        if not self.is_open and not self.is_closed and not await within(seconds, self._moved.wait(), self._clock):
            reason = f": {self._obstacle}" if self._obstacle is not None else ""
            raise Initializing(f"storage is (re)initializing{reason}") from self._obstacle
        if self.is_closed:
            raise Closed("the cache is closed")
