"""Feed: live events, handed to those whose key range they concern.

For engines that live in this process. On the event loop, without waiting; knows no storage and no clock. Committed
groups (of whole revisions) come in order; each watched range gets its events of a group as one batch, which its
subscriptions share. The ranges of an event are found by bisection, so a write costs no more for being one of many
watched ranges' neighbour.

Must hold: a subscription gives out everything of its range from where it joined, once and in order, or says from which
revision on it has lost: what is held for a slow reader is bounded, the rest is in the engine's history for him to read.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Collection, Sequence

from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.kv.interface import Event, EventBatch

_BACKLOG_BYTES = 8 << 20
_EVENT_BYTES = 500
"""What an event costs beside its values, about."""

Range = tuple[bytes, bytes]


class Subscription:
    """One reader's queue. It starts out with everything lost: `join` says from where on it is live."""

    def __init__(self, scope: Range) -> None:
        self.scope = scope
        self.failure: StorageError | None = None
        self.lost_from: int | None = 0
        """The first revision that was not kept for the reader; None while nothing is missing."""
        self._first_revision = 0
        self._batches: deque[tuple[EventBatch, int]] = deque()
        self._bytes = 0
        self._owes_progress = False
        self._changed = asyncio.Event()

    def join(self, revision: int, *, current: int) -> None:
        """Be live from `revision` on, which lies behind `current`, the revision of the feed."""
        self.lost_from = None
        self._first_revision = revision
        if self._owes_progress:
            self.promise(current)

    @property
    def backlog(self) -> int:
        """How many batches wait to be taken."""
        return len(self._batches)

    def pop(self) -> EventBatch | None:
        """The next batch, if there is one."""
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
        """Let the reader look around."""
        self._changed.set()

    def deliver(self, batch: EventBatch, size: int) -> None:
        """Queue the events of a group, or lose them all if the reader is too far behind."""
        if self.lost_from is not None or batch.revision < self._first_revision:
            return
        batch = _starting_at(self._first_revision, batch)
        self._batches.append((batch, size))
        self._bytes += size
        if self._bytes > _BACKLOG_BYTES and len(self._batches) > 1:
            self._lose()
        self.wake()

    def promise(self, revision: int) -> None:
        """Queue that all up to the revision has been delivered, or keep it in mind until that is so."""
        self._owes_progress = self.lost_from is not None
        if self._owes_progress:
            return
        if self._batches and self._batches[-1][0].is_progress:
            self._batches.pop()  # of several promises in a row only the newest says anything
        self._batches.append((EventBatch((), revision), 0))
        self.wake()

    def lose(self, revision: int) -> None:
        """Lose everything from the revision on, which comes next, and what is queued."""
        if self.lost_from is None:
            self._lose()
            self.lost_from = self.lost_from or revision
        self.wake()

    def compact(self, revision: int) -> None:
        """Lose what is queued if there are events below the revision in it."""
        oldest = self._oldest_revision()
        if oldest is not None and oldest < revision:
            self._lose()
            self.wake()

    def fail(self, reason: StorageError) -> None:
        """Forget what is queued; the reader learns the reason, the first one if there are several."""
        self.failure = self.failure or reason
        self._batches.clear()
        self.wake()

    def _lose(self) -> None:
        self._owes_progress = any(batch.is_progress for batch, _ in self._batches)
        self.lost_from = self._oldest_revision()
        self._batches.clear()
        self._bytes = 0

    def _oldest_revision(self) -> int | None:
        """The revision of the first event that is queued."""
        return next((batch.events[0].record.mod_revision for batch, _ in self._batches if batch.events), None)


class Feed:
    """All subscriptions of a store. `revision`: everything up to it has been published."""

    def __init__(self, revision: int) -> None:
        self.revision = revision
        self._by_range: dict[Range, set[Subscription]] = {}
        self._bounds: list[bytes] = []
        self._segments: list[list[Range]] = [[]]
        """The ranges that cover each part of the key space: part i is bounds[i - 1] <= key < bounds[i]."""
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []

    def __len__(self) -> int:
        return sum(map(len, self._by_range.values()))

    @property
    def backlog(self) -> int:
        """How many batches wait for their readers."""
        return sum(subscription.backlog for subscription in self._all())

    def subscribe(self, start: bytes, end: bytes) -> Subscription:
        """A subscription that has yet to join."""
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
        """Hand out the events of a committed group."""
        self.revision = revision
        for scope, selected in self._selected(events).items():
            batch = EventBatch(selected, selected[-1].record.mod_revision)
            size = sum(map(_size, selected))
            for subscription in self._by_range[scope]:
                subscription.deliver(batch, size)
        self._release_waiting()

    def lose_most(self, keys: Collection[bytes], *, spare: int) -> Collection[bytes]:
        """Let those lose what comes next who would be told most, when many keys change at once.

        Returns the keys of which nobody is to be told: all but `spare` at the most.
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

    def promise_progress(self) -> None:
        """Tell everybody that all events up to now have been published."""
        for subscription in self._all():
            subscription.promise(self.revision)

    def compact(self, revision: int) -> None:
        """Hold no events below the revision: who has not taken them looks for them in the history, in vain."""
        for subscription in self._all():
            subscription.compact(revision)

    def fail(self, reason: StorageError) -> None:
        """End all subscriptions."""
        for subscription in self._all():
            subscription.fail(reason)

    async def wait_until_reached(self, revision: int) -> None:
        """Return when the revision has been published, which has been committed and so will be."""
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
        """The segments that have readers in common with this one, or with one of those, and so on."""
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
