"""Slow watch budget: patience with slow watch clients, shared by all watchers of a resource, and refilled over time.

One slow watcher in quiet times may take it all. When many are slow at once, most of them get none. catching_up.py ends
the watchers.
"""

from aio_apiserver.base.clock import Clock

REFILL_PER_SECOND = 0.1
MAXIMUM = 1.0


class TimeBudget:
    """Seconds that the feeder may wait for slow watchers."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seconds = 0.0
        self._counted = clock.monotonic()

    def take(self) -> float:
        """Take all that is available now."""
        now = self._clock.monotonic()
        available = min(self._seconds + (now - self._counted) * REFILL_PER_SECOND, MAXIMUM)
        self._counted = now
        self._seconds = 0.0
        return available

    def give_back(self, seconds: float) -> None:
        """Return the unused part."""
        self._seconds = min(self._seconds + max(seconds, 0.0), MAXIMUM)
