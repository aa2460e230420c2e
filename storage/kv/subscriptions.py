"""Subscriptions: the live side of watches on an engine that lives in this process.

The engine publishes each revision once, in order; every subscription whose range it concerns gets it. Replaying the
past is the engine's own duty: it subscribes first and then reads its history up to that point, so that no
revision lies between the two. Knows no storage and no clock.

Must hold: a subscription gives out every published batch of its range once, in order, or fails; it never skips. It
keeps no batch that a compaction has forgotten, so what a slow watcher holds is bounded by the kept history.
"""

import asyncio
from collections import deque
from collections.abc import Sequence

from storage.errors import Compacted, StorageError
from storage.kv.interface import Event, EventBatch


class Subscription:
    """One watcher's queue, filled by `Subscriptions` and emptied by `next`."""

    __slots__ = ("_arrived", "_failure", "_pending", "end", "first_revision", "is_left", "start")

    def __init__(self, start: bytes, end: bytes, *, first_revision: int) -> None:
        self.start = start
        self.end = end
        self.first_revision = first_revision
        self.is_left = False
        self._pending: deque[EventBatch] = deque()
        self._failure: StorageError | None = None
        self._arrived = asyncio.Event()

    @property
    def backlog(self) -> int:
        """How many batches wait to be taken."""
        return len(self._pending)

    async def next(self) -> EventBatch | None:
        """The next batch, in order; waits for it. None when it was left, else raises what it failed with."""
        while not self._pending:
            if self.is_left:
                return None
            self.raise_failure()
            self._arrived.clear()
            await self._arrived.wait()
        return self._pending.popleft()

    def raise_failure(self) -> None:
        """Raise what the subscription failed with, if it did."""
        if self._failure is not None:
            raise self._failure

    def deliver(self, batch: EventBatch) -> None:
        """Queue a batch; of several progress batches in a row only the newest says anything."""
        if self._failure is not None:
            return  # what comes behind a gap must not be seen
        if batch.is_progress and self._pending and self._pending[-1].is_progress:
            self._pending.pop()
        self._pending.append(batch)
        self._arrived.set()

    def fail(self, reason: StorageError) -> None:
        """Forget what is queued and raise `reason` from now on."""
        self._failure = self._failure or reason
        self._pending.clear()
        self._arrived.set()

    def leave(self) -> None:
        """Forget what is queued; there is no more."""
        self.is_left = True
        self._pending.clear()
        self._arrived.set()

    def compact(self, revision: int) -> None:
        """Fail if the oldest queued events lie below the revision."""
        oldest = next((batch for batch in self._pending if batch.events), None)
        if oldest is not None and oldest.revision < revision:
            self.fail(Compacted(oldest.revision, revision))


class Subscriptions:
    """All subscriptions of one engine, grouped by range: a range is matched once per write and shares its batches."""

    def __init__(self) -> None:
        self._by_range: dict[tuple[bytes, bytes], set[Subscription]] = {}

    @property
    def backlog(self) -> int:
        """How many batches wait for their watchers."""
        return sum(subscription.backlog for subscription in self._all())

    def __len__(self) -> int:
        return sum(map(len, self._by_range.values()))

    def add(self, start: bytes, end: bytes, *, first_revision: int) -> Subscription:
        """Start queueing what is published for start <= key < end at `first_revision` and later."""
        subscription = Subscription(start, end, first_revision=first_revision)
        self._by_range.setdefault((start, end), set()).add(subscription)
        return subscription

    def remove(self, subscription: Subscription) -> None:
        """End it: nothing is queued for it any more. Safe to call twice."""
        subscription.leave()
        scope = (subscription.start, subscription.end)
        group = self._by_range.get(scope, set())
        group.discard(subscription)
        if not group:
            self._by_range.pop(scope, None)

    def publish(self, events: Sequence[Event], revision: int) -> None:
        """Hand out all events of one revision."""
        for (start, end), group in self._by_range.items():
            batch = batch_of_range(events, revision, start=start, end=end)
            if batch is None:
                continue
            for subscription in group:
                if subscription.first_revision <= revision:
                    subscription.deliver(batch)

    def publish_progress(self, revision: int) -> None:
        """Tell everybody that all events up to the revision have been published."""
        batch = EventBatch((), revision)
        for subscription in self._all():
            subscription.deliver(batch)

    def compact(self, revision: int) -> None:
        """Fail those who still have events below the revision before them."""
        for subscription in self._all():
            subscription.compact(revision)

    def fail(self, reason: StorageError) -> None:
        """End all of them."""
        for subscription in self._all():
            subscription.fail(reason)

    def _all(self) -> list[Subscription]:
        return [subscription for group in self._by_range.values() for subscription in group]


def batch_of_range(events: Sequence[Event], revision: int, *, start: bytes, end: bytes) -> EventBatch | None:
    """The events of one revision that concern start <= key < end; None when there are none."""
    if len(events) == 1:  # all but the expiry of leases, and every write passes here once per watched range
        return EventBatch(events, revision) if start <= events[0].record.key < end else None
    selected = tuple(event for event in events if start <= event.record.key < end)
    return EventBatch(selected, revision) if selected else None
