"""Progress: requests the store's progress, as an etcd client does, while reads wait for the cache to reach a revision.

The store reports progress by itself now and then. While others write to other resources, no event of this resource
shows that the cache has missed nothing.

Must hold: one request is under way at a time, and none without waiters. A waiter that comes after a request was sent
gets a later one, because the answer may be older than the waiter. A lost request is repeated.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.cacher.pacing import settle, within
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.interface import Origin

logger = logging.getLogger(__name__)

PERIOD_SECONDS = 0.1


class Progress:
    """Requests progress for waiting reads."""

    def __init__(self, origin: Origin, clock: Clock, tasks: Tasks) -> None:
        self._origin = origin
        self._clock = clock
        self._tasks = tasks
        self._waiting = 0
        self._is_running = False
        self._answer: asyncio.Future[bool] | None = None
        self._newcomer: asyncio.Future[bool] | None = None
        self._requests = 0

    @contextmanager
    def requested(self) -> Iterator[None]:
        """Inside this context the store's progress is requested again and again."""
        self._waiting += 1
        if self._newcomer is not None:
            settle(self._newcomer, True)
        if not self._is_running:
            self._is_running = True
            self._tasks.spawn(self._ask_while_wanted(), name="request progress")
        try:
            yield
        finally:
            self._waiting -= 1

    def answered(self) -> None:
        """The store has reported its progress."""
        if self._answer is not None:
            settle(self._answer, True)

    def statistics(self) -> Mapping[str, int]:
        return {"waiting": self._waiting, "progress_requests": self._requests}

    async def _ask_while_wanted(self) -> None:
        try:
            loop = asyncio.get_running_loop()
            while self._waiting:
                self._answer, self._newcomer = loop.create_future(), loop.create_future()
                await self._ask()
                await within(PERIOD_SECONDS, self._answer, self._clock)
                await within(PERIOD_SECONDS, self._newcomer, self._clock)
        finally:
            self._is_running = False

    async def _ask(self) -> None:
        self._requests += 1
        try:
            await self._origin.request_progress()
        except StorageError as exc:
            logger.debug("progress could not be requested: %s", exc)
