"""RevisionCheck: gets the store's newest revision, with one request for all readers that wait at the same time.

A reader that comes while a request is under way waits for the next one. The first answer may be older than a write
whose end this reader has seen. So there are at most two requests for any number of readers.

    A asks ──request 1──┐   B and C come now and share request 2, which starts when 1 has ended
        B, C wait ──────┴──request 2──┐

Must hold: an answer was made after its reader asked. A store that answers without suspending costs no task.
"""

import asyncio
from collections.abc import Mapping

from aio_apiserver.storage.errors import Closed, StorageError
from aio_apiserver.storage.interface import Origin
from aio_apiserver.storage.tasks import Tasks


class RevisionCheck:
    """Requests the revision from the origin."""

    def __init__(self, origin: Origin, tasks: Tasks) -> None:
        self._current_revision = origin.current_revision
        self._tasks = tasks
        self._waiting: list[asyncio.Future[int]] | None = None
        """The readers that wait for the next request; None when no request is under way."""
        self._checks = 0
        self._shared = 0

    async def newest(self) -> int:
        """The store's revision, not older than this call. Raises what the store raises."""
        if self._waiting is not None:
            return await self._next(self._waiting)
        self._waiting = []
        self._checks += 1
        try:
            return await self._current_revision()
        finally:
            if self._waiting:
                self._tasks.spawn(self._answer(), name="check revision")
            else:
                self._waiting = None

    def statistics(self) -> Mapping[str, int]:
        return {"revision_checks": self._checks, "shared_checks": self._shared}

    async def _next(self, waiting: list[asyncio.Future[int]]) -> int:
        if waiting:
            self._shared += 1
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        waiting.append(answer)
        return await answer

    async def _answer(self) -> None:
        """Request the revision for the waiting readers, again and again until none waits."""
        asking: list[asyncio.Future[int]] = []
        try:
            while self._waiting:
                asking, self._waiting = self._waiting, []
                self._checks += 1
                try:
                    _settle(asking, await self._current_revision())
                except StorageError as exc:
                    _settle(asking, exc)
        finally:
            _settle(asking + (self._waiting or []), Closed("the cache is closed"))
            self._waiting = None


def _settle(waiting: list[asyncio.Future[int]], outcome: int | StorageError) -> None:
    for answer in waiting:
        if answer.done():
            continue
        if isinstance(outcome, StorageError):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)
