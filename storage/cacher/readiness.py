"""Readiness: requests wait here until the watch cache has been filled for the first time.

Must hold: a request waits no longer than its limit. Its error then names the reason why the cache is not filled.
"""

from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.cacher.pacing import within
from aio_apiserver.storage.cacher.watermark import Watermark
from aio_apiserver.storage.errors import Corrupt, Initializing, StorageError

_FILLED = 1
"""The least revision of a list: a cache at any revision has been filled."""


class Gate:
    """Open as soon as `mark`, the cache's revision, shows that the cache has a state."""

    def __init__(self, mark: Watermark, clock: Clock) -> None:
        self._mark = mark
        self._clock = clock
        self._obstacle: StorageError | None = None
        self.is_corrupt = False
        """Whether the cache could not be filled, because an object cannot be read."""

    @property
    def is_open(self) -> bool:
        return self._mark.revision >= _FILLED

    def report(self, obstacle: StorageError) -> None:
        """Remember why the cache could not be filled."""
        self._obstacle = obstacle
        self.is_corrupt = isinstance(obstacle, Corrupt)

    async def wait(self, seconds: float) -> None:
        """Return when the gate is open. Raises Initializing after so many seconds, Closed."""
        if not await within(seconds, self._mark.expect(_FILLED), self._clock):
            reason = f": {self._obstacle}" if self._obstacle is not None else ""
            raise Initializing(f"storage is (re)initializing{reason}") from self._obstacle
