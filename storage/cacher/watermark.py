"""Watermark: a revision that only grows, and those who wait for it.

Must hold: it never goes back; a waiter that gives up leaves nothing behind, whatever revision it waited for.
"""

import asyncio
import itertools

from sortedcontainers import SortedDict

from aio_apiserver.storage.cacher.pacing import settle
from aio_apiserver.storage.errors import StorageError


class Watermark:
    """How far something has come."""

    __slots__ = ("_failure", "_places", "_waiting", "revision")

    def __init__(self) -> None:
        self.revision = 0
        self._places = itertools.count()
        self._waiting: SortedDict[tuple[int, int], asyncio.Future[bool]] = SortedDict()
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
            settle(self._waiting.popitem(0)[1], True)

    def fail(self, reason: StorageError) -> None:
        """Nothing comes any more: those who wait, or will wait, get the reason."""
        self._failure = reason
        while self._waiting:
            arrival = self._waiting.popitem(0)[1]
            if not arrival.done():
                arrival.set_exception(reason)

    def expect(self, revision: int) -> asyncio.Future[bool]:
        """True as soon as `revision` has been reached. Whoever settles or cancels it does not wait any longer."""
        arrival: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        if self.revision >= revision:
            arrival.set_result(True)
        elif self._failure is not None:
            arrival.set_exception(self._failure)
        else:
            place = (revision, next(self._places))
            self._waiting[place] = arrival
            arrival.add_done_callback(lambda _: self._waiting.pop(place, None))
        return arrival
