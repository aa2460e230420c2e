"""Watermark: a resource version that grows, and the requests that wait for it.

Must hold: it never goes back. A request that stops waiting leaves nothing behind.
"""

import asyncio
import itertools

from sortedcontainers import SortedDict

from aio_apiserver.storage.cacher.pacing import settle
from aio_apiserver.storage.errors import StorageError


class Watermark:
    """The revision that a cache or fan-out has reached."""

    __slots__ = ("_failure", "_places", "_waiting", "revision")

    def __init__(self) -> None:
        self.revision = 0
        self._places = itertools.count()
        self._waiting: SortedDict[tuple[int, int], asyncio.Future[bool]] = SortedDict()
        self._failure: StorageError | None = None

    def __len__(self) -> int:
        """The number of waiters."""
        return len(self._waiting)

    def advance(self, revision: int) -> None:
        """Move on to `revision`, unless it has been reached, and wake the waiters up to it."""
        if revision <= self.revision:
            return
        self.revision = revision
        while self._waiting and self._waiting.peekitem(0)[0][0] <= revision:
            settle(self._waiting.popitem(0)[1], True)

    def fail(self, reason: StorageError) -> None:
        """No more revisions come: present and future waiters get the reason."""
        self._failure = reason
        while self._waiting:
            arrival = self._waiting.popitem(0)[1]
            if not arrival.done():
                arrival.set_exception(reason)

    def expect(self, revision: int) -> asyncio.Future[bool]:
        """A future that is True as soon as `revision` has been reached. A future that is settled or cancelled stops
        waiting.
        """
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
