"""Watermark: a revision that only grows, and those who wait for it.

Must hold: it never goes back; a waiter that gives up leaves nothing behind, whatever revision it waited for.
"""

import asyncio
import itertools

from sortedcontainers import SortedDict

from storage.errors import StorageError


class Watermark:
    """How far something has come."""

    __slots__ = ("_failure", "_places", "_waiting", "revision")

    def __init__(self) -> None:
        self.revision = 0
        self._places = itertools.count()
        self._waiting: SortedDict[tuple[int, int], asyncio.Future[None]] = SortedDict()
        self._failure: StorageError | None = None

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def advance(self, revision: int) -> None:
        """Move on to `revision`, unless it is behind already, and wake those who waited for no more than that."""
        if revision <= self.revision:
            return
        self.revision = revision
        while self._waiting and self._waiting.peekitem(0)[0][0] <= revision:
            _settle(self._waiting.popitem(0)[1], None)

    def fail(self, reason: StorageError) -> None:
        """Nothing comes any more: those who wait, or will wait, get the reason."""
        self._failure = reason
        while self._waiting:
            _settle(self._waiting.popitem(0)[1], reason)

    async def wait_until(self, revision: int) -> None:
        """Return as soon as `revision` has been reached."""
        if self.revision >= revision:
            return
        if self._failure is not None:
            raise self._failure
        place = (revision, next(self._places))
        waiter = self._waiting[place] = asyncio.get_running_loop().create_future()
        try:
            await waiter
        finally:
            self._waiting.pop(place, None)


def _settle(waiter: asyncio.Future[None], failure: StorageError | None) -> None:
    if waiter.done():
        return
    if failure is None:
        waiter.set_result(None)
    else:
        waiter.set_exception(failure)
