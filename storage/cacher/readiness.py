"""Gate: requests wait here until the cache has been filled for the first time.

Must hold: nobody waits longer than told; who waited in vain learns what keeps the cache from filling.
"""

from aio_apiserver.storage.cacher.pacing import within
from aio_apiserver.storage.cacher.watermark import Watermark
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.errors import Initializing, StorageError

_FILLED = 1
"""The least revision that a list can have: a cache that has come to any has been filled."""


class Gate:
    """Open as soon as `mark`, the cache's revision, says that there is a state."""

    def __init__(self, mark: Watermark, clock: Clock) -> None:
        self._mark = mark
        self._clock = clock
        self._obstacle: StorageError | None = None

    @property
    def is_open(self) -> bool:
        return self._mark.revision >= _FILLED

    def report(self, obstacle: StorageError) -> None:
        """Remember why the cache could not be filled."""
        self._obstacle = obstacle

    async def wait(self, seconds: float) -> None:
        """Return when the gate is open. Raises Initializing after so many seconds, Closed."""
        if not await within(seconds, self._mark.expect(_FILLED), self._clock):
            reason = f": {self._obstacle}" if self._obstacle is not None else ""
            raise Initializing(f"storage is (re)initializing{reason}") from self._obstacle
