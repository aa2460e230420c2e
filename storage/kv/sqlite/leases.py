"""Leases: ends leases when they expire, with one timer for all of them, on the clock that the caller passes.

It does not know keys: the caller passes the function that ends a lease. Must hold: a lease that is due is ended. After
an error, for example a full disk, it is tried again later.
"""

import asyncio
import heapq
import logging
from collections.abc import Awaitable, Callable

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import LeaseNotFound, StorageError

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 5.0


class LeaseTimers:
    """`end` ends a lease. It raises LeaseNotFound for one that was revoked before."""

    def __init__(self, end: Callable[[int], Awaitable[None]], *, clock: Clock, tasks: Tasks) -> None:
        self._end = end
        self._clock = clock
        self._tasks = tasks
        self._deadlines: list[tuple[float, int]] = []
        self._timer: asyncio.Task[None] | None = None

    def add(self, lease: int, seconds: float) -> None:
        """End the lease after so many seconds."""
        entry = (self._clock.monotonic() + seconds, lease)
        heapq.heappush(self._deadlines, entry)
        if self._deadlines[0] is entry:
            self._start_timer()

    def _start_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._tasks.spawn(self._wait(self._deadlines[0][0]), name="sqlite kv: next expiry of a lease")

    async def _wait(self, deadline: float) -> None:
        await self._clock.sleep(deadline - self._clock.monotonic())
        self._timer = None
        while self._deadlines and self._deadlines[0][0] <= self._clock.monotonic():
            _, lease = heapq.heappop(self._deadlines)
            self._tasks.spawn(self._expire(lease), name=f"sqlite kv: expiry of lease {lease}")
        if self._deadlines:
            self._start_timer()

    async def _expire(self, lease: int) -> None:
        while True:
            try:
                await self._end(lease)
            except LeaseNotFound:
                return
            except StorageError as exc:
                logger.warning("lease %d could not be ended, trying again in %.0f s: %s", lease, _RETRY_SECONDS, exc)
                await self._clock.patience.sleep(_RETRY_SECONDS)
            else:
                return
