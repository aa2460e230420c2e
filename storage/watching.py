"""What watchers share: how a change looks through a predicate, and a sink for those who would rather pull.

Pure but for WatchQueue, which waits. Store and Cacher both turn changes into events here, so that a watch means the
same with and without a cache.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.interface import WatchBatch, WatchEvent, WatchEventType
from aio_apiserver.storage.selection import SelectionPredicate
from aio_apiserver.storage.stored_object import StoredObject


def seen_through(
    predicate: SelectionPredicate,
    *,
    previous: StoredObject | None,
    current: StoredObject | None,
    revision: int,
) -> WatchEvent | None:
    """The event that a watcher with this predicate gets for a change, or None when it concerns it not at all.

    previous  current   event
    -         selected  ADDED
    other     selected  ADDED     (entering the selection)
    selected  selected  MODIFIED
    selected  other     DELETED   (leaving it: the previous state under the new revision)
    selected  -         DELETED
    """
    was = previous is not None and (predicate.is_everything or predicate.matches(previous))
    if current is not None and (predicate.is_everything or predicate.matches(current)):
        return WatchEvent(WatchEventType.MODIFIED if was else WatchEventType.ADDED, current, revision)
    if not was:
        return None
    assert previous is not None
    return WatchEvent(WatchEventType.DELETED, previous.at_revision(revision), revision)


class WatchQueue:
    """A sink that is read by iterating: yields events, ends when the watch ends, raises its reason.

    Holds `limit` undelivered events at the most before the watch counts it as slow.
    """

    def __init__(self, limit: int = 10_000) -> None:
        self._events: deque[WatchEvent] = deque()
        self._arrived = asyncio.Event()
        self._is_ended = False
        self._reason: StorageError | None = None
        self._limit = limit

    @property
    def backlog(self) -> int:
        return len(self._events)

    @property
    def backlog_limit(self) -> int:
        return self._limit

    def deliver(self, batch: WatchBatch) -> None:
        self._events.extend(batch.events)
        self._arrived.set()

    def end(self, reason: StorageError | None) -> None:
        self._is_ended = True
        self._reason = reason
        self._arrived.set()

    async def __aiter__(self) -> AsyncIterator[WatchEvent]:
        while True:
            while self._events:
                yield self._events.popleft()
            if self._is_ended:
                if self._reason is not None:
                    raise self._reason
                return
            self._arrived.clear()
            await self._arrived.wait()
