"""Watcher: one etcd watch, between the stream that brings its events and the caller that iterates over them.

It queues the events until the caller takes them, and knows the revision of the next event. It does not depend on a
connection: a new stream continues after the last delivered revision, and the iterator does not notice.

Must hold: every event of the range is queued once, in order. All events of one revision are in one batch, even when
etcd has split them. The queue is bounded: a full watcher is taken off the stream until its caller has caught up.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Self

import aio_apiserver.storage.kv.etcd.aetcd_rpc.rpc_pb2 as rpc
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.kv.etcd.messages import event_of
from aio_apiserver.storage.kv.interface import Event, EventBatch

FULL_BYTES = 32 * 1024 * 1024
"""The size of the queue for a slow caller: several of the largest responses, seconds of a busy store's events."""
_EVENT_BYTES = 500
"""The size of an event without its values."""


class EtcdWatcher:
    """A watch of start <= key < end. `next_revision`: events below it are not needed.

    on_drained: called when the queue of a full watcher is empty enough to return to the stream.
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
        self._reported = 0
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
        """Note that the server has created the watch."""
        self._was_refused = False
        self.is_confirmed.set()

    def may_be_permitted(self) -> bool:
        """Whether a refusal is the first one in a row, and another try is due."""
        was_refused, self._was_refused = self._was_refused, True
        return not was_refused

    def receive(self, response: rpc.WatchResponse) -> None:
        """Take the events of a response; the newest revision of a fragment waits for the next fragment."""
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
        """Queue a progress notification: no event up to the revision is still to come. If reliable, the watch resumes
        after it.
        """
        self.wants_progress = False
        if revision < self._reported:
            return
        if self._batches and self._batches[-1][0].is_progress:
            self._batches.pop()
        self._queue(EventBatch((), revision), 0)
        if is_reliable:
            self.next_revision = max(self.next_revision, revision + 1)

    def disconnect(self) -> None:
        """Drop the events of an incomplete revision: the stream resumes at `next_revision`."""
        self._held = []

    def fail(self, reason: StorageError) -> None:
        """Raise the reason after the queued batches."""
        self._failure = self._failure or reason
        self.is_confirmed.set()
        self._arrived.set()

    def abort(self, reason: StorageError) -> None:
        """Raise the reason now, without the queued batches."""
        self._batches.clear()
        self.fail(reason)

    def leave(self) -> None:
        """End the iteration."""
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
        self._reported = batch.revision
        self._arrived.set()


def _bytes_of(events: list[Event]) -> int:
    return sum(
        _EVENT_BYTES + len(event.record.value) + (len(event.previous.value) if event.previous else 0)
        for event in events
    )
