"""Watcher: one watch, from the stream's side a sink, from the caller's an iterator.

It keeps what has come and was not taken, and knows from which revision on the rest is wanted. It holds nothing of a
connection: the stream may break and begin again behind the last delivered revision, and the iterator never knows.

Must hold: every event of the range is queued once, in order; all events of one revision are in one batch, however
etcd has cut them; what is queued is bounded: a watcher that is full is taken off the stream until its caller has
caught up.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Self

from aetcd import rpc

from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.kv.etcd.messages import event_of
from aio_apiserver.storage.kv.interface import Event, EventBatch

FULL_BYTES = 32 * 1024 * 1024
"""What may wait for a slow caller: several of the largest responses, seconds of a busy store's events."""
_EVENT_BYTES = 500
"""What an event costs beside its values."""


class EtcdWatcher:
    """A watch of start <= key < end. `next_revision`: nothing below it is wanted any more.

    on_drained: called when a full watcher has been emptied far enough to be put on the stream again.
    """

    def __init__(self, start: bytes, end: bytes, revision: int, *, on_drained: Callable[["EtcdWatcher"], None]) -> None:
        self.start = start
        self.end = end
        self.next_revision = revision
        self.is_confirmed = asyncio.Event()
        """Set once the server has confirmed the watch, or has refused it."""
        self.is_full = False
        self.wants_progress = False
        self._was_refused = False
        self._on_drained = on_drained
        self._told = 0
        self._held: list[Event] = []
        self._batches: deque[tuple[EventBatch, int]] = deque()
        self._bytes = 0
        self._arrived = asyncio.Event()
        self._failure: StorageError | None = None
        self._is_left = False

    @property
    def backlog(self) -> int:
        """How many batches wait for the caller."""
        return len(self._batches)

    def confirm(self) -> None:
        """The server watches."""
        self._was_refused = False
        self.is_confirmed.set()

    def may_be_permitted(self) -> bool:
        """Whether a refusal is the first one in a row, and another try is due."""
        was_refused, self._was_refused = self._was_refused, True
        return not was_refused

    def receive(self, response: rpc.WatchResponse) -> None:
        """Take the events of a response; the newest revision of a fragment waits for the rest of it."""
        events = [*self._held, *map(event_of, response.events)]
        if events[0].record.mod_revision < self.next_revision:
            events = [event for event in events if event.record.mod_revision >= self.next_revision]
        if response.fragment and events:
            newest = events[-1].record.mod_revision
            whole = sum(event.record.mod_revision < newest for event in events)
            events, self._held = events[:whole], events[whole:]
        else:
            self._held = []
        if events:
            self._queue(EventBatch(events, events[-1].record.mod_revision), _bytes_of(events))
            self.next_revision = events[-1].record.mod_revision + 1
            self.is_full = self._bytes > FULL_BYTES

    def promise(self, revision: int, *, is_reliable: bool) -> None:
        """Tell the caller that nothing up to the revision is still to come; if it is true, nothing is wanted again."""
        self.wants_progress = False
        if revision < self._told:
            return
        if self._batches and self._batches[-1][0].is_progress:
            self._batches.pop()
        self._queue(EventBatch((), revision), 0)
        if is_reliable:
            self.next_revision = max(self.next_revision, revision + 1)

    def disconnect(self) -> None:
        """Forget what has come in part: the stream begins again with `next_revision`."""
        self._held = []

    def fail(self, reason: StorageError) -> None:
        """Raise the reason when everything that is queued has been taken."""
        self._failure = self._failure or reason
        self.is_confirmed.set()
        self._arrived.set()

    def abort(self, reason: StorageError) -> None:
        """Raise the reason now."""
        self._batches.clear()
        self.fail(reason)

    def leave(self) -> None:
        """Yield no more."""
        self._batches.clear()
        self._is_left = True
        self._arrived.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> EventBatch:
        while not self._batches:
            if self._is_left:
                raise StopAsyncIteration
            if self._failure is not None:
                raise self._failure
            self._arrived.clear()
            await self._arrived.wait()
        batch, size = self._batches.popleft()
        self._bytes -= size
        if self.is_full and self._bytes <= FULL_BYTES // 2:
            self.is_full = False
            self._on_drained(self)
        return batch

    def _queue(self, batch: EventBatch, size: int) -> None:
        self._batches.append((batch, size))
        self._bytes += size
        self._told = batch.revision
        self._arrived.set()


def _bytes_of(events: list[Event]) -> int:
    return sum(
        _EVENT_BYTES + len(event.record.value) + (len(event.previous.value) if event.previous else 0)
        for event in events
    )
