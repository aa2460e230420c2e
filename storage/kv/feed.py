"""Feed: hands live events to the watches whose key range they are in.

For engines that live in this process. It runs on the event loop without waiting, and has no clock. The engine publishes
committed groups of whole revisions in order. The subscriptions of one range share one batch. Ranges are found by
bisection, so that a write costs the ranges of its own key and not all watched ranges.

Must hold: a subscription yields all events of its range from its start revision, once and in order. Or it reports the
revision from which it has dropped events. The queue of a slow reader is bounded; the reader replays the rest from the
engine's history.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Collection, Sequence

from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.kv.interface import Event, EventBatch

_BACKLOG_BYTES = 8 << 20
_EVENT_BYTES = 500
"""The approximate cost of an event beside its values."""

Range = tuple[bytes, bytes]


class Subscription:
    """The queue of one watch. It begins with everything dropped: `join` sets the revision from which it is live."""

    def __init__(self, scope: Range) -> None:
        self.scope = scope
        self.failure: StorageError | None = None
        self.lost_from: int | None = 0
        """The first revision that was dropped; None while nothing is missing."""
        self._first_revision = 0
        self._batches: deque[tuple[EventBatch, int]] = deque()
        self._bytes = 0
        self._owes_progress = False
        self._changed = asyncio.Event()

    def join(self, revision: int, *, current: int) -> None:
        """Be live from `revision` on. It is later than `current`, the revision of the feed."""
        self.lost_from = None
        self._first_revision = revision
        if self._owes_progress:
            self.promise(current)

    @property
    def backlog(self) -> int:
        """The number of queued batches."""
        return len(self._batches)

    def pop(self) -> EventBatch | None:
        """The next batch; None when the queue is empty."""
        if not self._batches:
            return None
        batch, size = self._batches.popleft()
        self._bytes -= size
        return batch

    async def wait_until_changed(self) -> None:
        """Return when there is a batch, a loss or a failure, or `wake` was called."""
        self._changed.clear()
        if not self._batches and self.lost_from is None and self.failure is None:
            await self._changed.wait()

    def wake(self) -> None:
        """Wake the reader."""
        self._changed.set()

    def deliver(self, batch: EventBatch, size: int) -> None:
        """Queue the events of a group. Drop all queued events when the reader is too far behind."""
        if self.lost_from is not None or batch.revision < self._first_revision:
            return
        batch = _starting_at(self._first_revision, batch)
        self._batches.append((batch, size))
        self._bytes += size
        if self._bytes > _BACKLOG_BYTES and len(self._batches) > 1:
            self._lose()
        self.wake()

    def promise(self, revision: int) -> None:
        """Queue a progress notification for the revision, or remember it until the subscription is live."""
        self._owes_progress = self.lost_from is not None
        if self._owes_progress:
            return
        if self._batches and self._batches[-1][0].is_progress:
            self._batches.pop()  # of several promises in a row only the newest says anything
        self._batches.append((EventBatch((), revision), 0))
        self.wake()

    def lose(self, revision: int) -> None:
        """Drop all events from the revision on, and what is queued. The revision is the next one."""
        if self.lost_from is None:
            self._lose()
            self.lost_from = self.lost_from or max(revision, self._first_revision)
        self.wake()

    def compact(self, revision: int) -> None:
        """Drop the queue if it holds events below the compact revision."""
        oldest = self._oldest_revision()
        if oldest is not None and oldest < revision:
            self._lose()
            self.wake()

    def fail(self, reason: StorageError) -> None:
        """Empty the queue and fail the reader. Of several reasons the first one counts."""
        self.failure = self.failure or reason
        self._batches.clear()
        self.wake()

    def _lose(self) -> None:
        self._owes_progress = any(batch.is_progress for batch, _ in self._batches)
        self.lost_from = self._oldest_revision()
        self._batches.clear()
        self._bytes = 0

    def _oldest_revision(self) -> int | None:
        """The revision of the first queued event."""
        return next((batch.events[0].record.mod_revision for batch, _ in self._batches if batch.events), None)


class Feed:
    """All subscriptions of a store. `revision`: all events up to it have been published."""

    def __init__(self, revision: int) -> None:
        self.revision = revision
        self._by_range: dict[Range, set[Subscription]] = {}
        self._bounds: list[bytes] = []
        self._segments: list[list[Range]] = [[]]
        """The ranges that cover each part of the key space: part i is bounds[i - 1] <= key < bounds[i]."""
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._notes: list[Callable[[int], None]] = []

    def __len__(self) -> int:
        return sum(map(len, self._by_range.values()))

    @property
    def backlog(self) -> int:
        """The number of queued batches of all subscriptions."""
        return sum(subscription.backlog for subscription in self._all())

    def subscribe(self, start: bytes, end: bytes) -> Subscription:
        """A subscription that has not joined yet."""
        subscription = Subscription((start, end))
        if subscription.scope not in self._by_range:
            self._by_range[subscription.scope] = set()
            self._divide()
        self._by_range[subscription.scope].add(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        group = self._by_range[subscription.scope]
        group.discard(subscription)
        if not group:
            del self._by_range[subscription.scope]
            self._divide()

    def publish(self, events: Sequence[Event], revision: int) -> None:
        """Queue the events of a committed group."""
        self.revision = revision
        for note in self._notes:
            note(revision)
        for scope, selected in self._selected(events).items():
            batch = EventBatch(selected, selected[-1].record.mod_revision)
            size = sum(map(_size, selected))
            for subscription in self._by_range[scope]:
                subscription.deliver(batch, size)
        self._release_waiting()

    def on_revision(self, note: Callable[[int], None]) -> None:
        """Call `note` with the revision of each group, first of all."""
        self._notes.append(note)

    def drop_widest(self, keys: Collection[bytes], *, spare: int) -> Collection[bytes]:
        """When one revision changes many keys, drop the subscriptions that match most of them. They replay from
        history.

        Returns the keys without a subscription that is still live: all but `spare` at most.
        """
        concerned: dict[int, list[bytes]] = {}
        for key in keys:
            concerned.setdefault(bisect_right(self._bounds, key), []).append(key)
        silent: set[int] = set()
        left = len(keys)
        for segment in sorted(concerned, key=lambda one: (bool(self._segments[one]), -len(concerned[one]))):
            if left > spare and segment not in silent:
                silent |= self._neighbours(segment)
                left = sum(len(found) for one, found in concerned.items() if one not in silent)
        for scope in {scope for segment in silent for scope in self._segments[segment]}:
            for subscription in self._by_range[scope]:
                subscription.lose(self.revision + 1)
        return {key for segment, found in concerned.items() if segment in silent for key in found}

    def skip(self, revision: int) -> None:
        """Continue at a later revision. The subscriptions replay the events up to it from history."""
        for subscription in self._all():
            subscription.lose(self.revision + 1)
        self.revision = revision
        self._release_waiting()

    def promise_progress(self) -> None:
        """Send all watches a progress notification for the present revision."""
        for subscription in self._all():
            subscription.promise(self.revision)

    def compact(self, revision: int) -> None:
        """Drop queues with events below the compact revision. Their readers then get Compacted from the history."""
        for subscription in self._all():
            subscription.compact(revision)

    def fail(self, reason: StorageError) -> None:
        """End all subscriptions."""
        for subscription in self._all():
            subscription.fail(reason)

    async def wait_until_reached(self, revision: int) -> None:
        """Return when the revision has been published. It is committed already."""
        if self.revision < revision:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append((revision, future))
            await future

    def _selected(self, events: Sequence[Event]) -> dict[Range, list[Event]]:
        selected: dict[Range, list[Event]] = {}
        for event in events:
            for scope in self._segments[bisect_right(self._bounds, event.record.key)]:
                selected.setdefault(scope, []).append(event)
        return selected

    def _neighbours(self, segment: int) -> set[int]:
        """The segments that share a subscription with this one, directly or through others."""
        found, new = {segment}, {segment}
        while new:
            scopes = {scope for one in new for scope in self._segments[one]}
            new = {place for place, held in enumerate(self._segments) if not scopes.isdisjoint(held)} - found
            found |= new
        return found

    def _divide(self) -> None:
        self._bounds = sorted({bound for scope in self._by_range for bound in scope})
        self._segments = [[] for _ in range(len(self._bounds) + 1)]
        for scope in self._by_range:
            first, last = (bisect_left(self._bounds, bound) for bound in scope)
            for segment in self._segments[first + 1 : last + 1]:
                segment.append(scope)

    def _release_waiting(self) -> None:
        for reached, future in self._waiting:
            if reached <= self.revision and not future.done():
                future.set_result(None)
        self._waiting = [(reached, future) for reached, future in self._waiting if not future.done()]

    def _all(self) -> list[Subscription]:
        return [subscription for group in self._by_range.values() for subscription in group]


def _starting_at(revision: int, batch: EventBatch) -> EventBatch:
    if batch.events[0].record.mod_revision >= revision:
        return batch
    return EventBatch([event for event in batch.events if event.record.mod_revision >= revision], batch.revision)


def _size(event: Event) -> int:
    previous = len(event.previous.value) if event.previous else 0
    return _EVENT_BYTES + len(event.record.value) + previous
