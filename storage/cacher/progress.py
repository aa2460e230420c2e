"""Progress: asks the store how far it is while somebody waits for the cache to get there.

The store says it of its own only now and then; when other resources are written and this one is not, nothing else
would tell that the cache has missed nothing.

Must hold: one request is under way at a time; without waiters there is none; a waiter that came after a request was
sent gets a later one, since the answer may be about the time before; a lost request is repeated.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from aio_apiserver.storage.cacher.pacing import settle, within
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.interface import Origin
from aio_apiserver.storage.tasks import Tasks

logger = logging.getLogger(__name__)

PERIOD_SECONDS = 0.1


class Progress:
    """Requests progress for those who wait."""

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
    def wanted(self) -> Iterator[None]:
        """While inside, the store is asked again and again."""
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
        """The store said how far it is."""
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
