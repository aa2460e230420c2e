"""database_size: DatabaseSize, asks etcd for the size of its database from time to time, for metrics.

Must hold: without an answer there is no size, so that an old one is not taken for the present one. A failure does not
end the loop.
"""

from collections.abc import Awaitable, Callable, Mapping

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import StorageError


class DatabaseSize:
    """The size as it was last measured. `measure` returns bytes, or raises StorageError; `interval` 0 never asks."""

    def __init__(self, measure: Callable[[], Awaitable[int]], clock: Clock, *, interval: float) -> None:
        self._measure = measure
        self._clock = clock
        self._interval = interval
        self._tasks = Tasks()
        self._bytes: int | None = None

    def start(self) -> None:
        """Start to ask; the first time at once."""
        if self._interval:
            self._tasks.spawn(self._run(), name="database size")

    def statistics(self) -> Mapping[str, int]:
        return {} if self._bytes is None else {"bytes": self._bytes}

    async def close(self) -> None:
        await self._tasks.close()

    async def _run(self) -> None:
        while True:
            try:
                self._bytes = await self._measure()
            except StorageError:
                self._bytes = None
            await self._clock.sleep(self._interval)
