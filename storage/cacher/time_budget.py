"""TimeBudget: patience with slow watchers, shared by all watchers of a resource and refilled as time goes by.

One slow watcher in quiet times may take it all; when many are slow at once there is none for most of them.
"""

from aio_apiserver.storage.clock import Clock

REFILL_PER_SECOND = 0.1
MAXIMUM = 1.0


class TimeBudget:
    """Seconds that may be waited."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seconds = 0.0
        self._counted = clock.monotonic()

    def take(self) -> float:
        """All that there is now."""
        now = self._clock.monotonic()
        available = min(self._seconds + (now - self._counted) * REFILL_PER_SECOND, MAXIMUM)
        self._counted = now
        self._seconds = 0.0
        return available

    def give_back(self, seconds: float) -> None:
        """Return what was taken and not used."""
        self._seconds = min(self._seconds + max(seconds, 0.0), MAXIMUM)
