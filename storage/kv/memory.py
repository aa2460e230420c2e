"""Memory: MemoryKV, the kv contract in the memory of this process, for tests and servers without durable data.

Its data ends with the process. A write costs O(log n) in the number of keys, and memory until a compaction. The caller
passes the clock.

Must hold: nothing suspends between a comparison and its write, so that every write is one step of the event loop.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count

from msgspec import Struct, field

from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import Closed, LeaseNotFound, TooLarge
from aio_apiserver.storage.health import Health
from aio_apiserver.storage.kv.feed import Feed
from aio_apiserver.storage.kv.history import History
from aio_apiserver.storage.kv.interface import (
    MAX_VALUE_BYTES,
    Event,
    EventBatch,
    EventType,
    GetResult,
    RangeResult,
    WriteResult,
)
from aio_apiserver.storage.kv.quota import Quota
from aio_apiserver.storage.kv.replay import Replay, Replayed
from aio_apiserver.storage.kv.space_keeping import SpaceKeeper
from aio_apiserver.storage.kv.watcher import LocalWatcher
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.snapshot import Difference, Snapshot, difference
from aio_apiserver.storage.store_limits import NO_LIMITS, StoreLimits

_REVISIONS_PER_TURN = 1_000
"""The revisions that are released or replayed before other tasks get the event loop: some 0.5 ms."""

_MOST_TOLD = 1_000
"""The most events that a restore sends to watches: some 6 ms. More changes are quicker to list."""


class _Lease(Struct):
    expiry: asyncio.Task[None]
    keys: set[bytes] = field(default_factory=set)


class MemoryKV:
    """An empty store at revision 1, or one that continues from a snapshot."""

    has_reliable_progress = True

    def __init__(
        self, *, clock: Clock | None = None, beginning: Snapshot | None = None, limits: StoreLimits = NO_LIMITS
    ) -> None:
        self._clock = clock or SystemClock()
        self._history = History() if beginning is None else History(beginning.lasting(), beginning.revision)
        self._feed = Feed(self._history.revision)
        self._leases: dict[int, _Lease] = {}
        self._lease_ids = count(1)
        self._tasks = Tasks()
        self._is_closed = False
        self._quota = Quota(limits.quota_bytes)
        self._space = SpaceKeeper(
            self._quota,
            limits,
            compact=self.compact,
            newest=self.known_revision,
            clock=self._clock.patience,
            tasks=self._tasks,
        )
        self._live_bytes = 0
        self._measure_live()

    async def get(self, key: bytes, *, revision: int = 0) -> GetResult:
        self._check_readable(revision)
        record = self._history.at(key, revision) if revision else self._history.current(key)
        return GetResult(record, self._history.revision)

    async def range(
        self,
        start: bytes,
        end: bytes,
        *,
        limit: int = 0,
        revision: int = 0,
        keys_only: bool = False,
        count_only: bool = False,
    ) -> RangeResult:
        self._check_readable(revision)
        shown = 0 if count_only else limit or None
        if revision not in (0, self._history.revision):
            found = self._history.range_at(start, end, limit=shown, revision=revision)
        else:
            found = self._history.range(start, end, limit=shown)
        records = list(map(_without_value, found.records)) if keys_only else found.records
        more = not count_only and found.count > len(records)
        return RangeResult(records, self._history.revision, found.count, more)

    async def put(self, key: bytes, value: bytes, *, expected_mod_revision: int, lease: int = 0) -> WriteResult:
        self._check_open()
        if len(value) > MAX_VALUE_BYTES:
            raise TooLarge(f"value of {len(value)} bytes, at most {MAX_VALUE_BYTES} are allowed")
        current = self._history.current(key)
        if expected_mod_revision != (current.mod_revision if current else 0):
            return WriteResult(False, self._history.revision, current)
        if lease:
            self._lease(lease)
        self._charge(value, current)
        event = self._history.put(key, value, lease=lease)
        self._attach(event)
        self._publish((event,))
        return WriteResult(True, event.record.mod_revision)

    async def delete(self, key: bytes, *, expected_mod_revision: int) -> WriteResult:
        self._check_open()
        current = self._history.current(key)
        if current is None or current.mod_revision != expected_mod_revision:
            return WriteResult(False, self._history.revision, current)
        self._delete((key,))
        return WriteResult(True, self._history.revision)

    async def grant_lease(self, ttl: int) -> int:
        self._check_open()
        lease = next(self._lease_ids)
        deadline = self._clock.monotonic() + ttl
        expiry = self._tasks.spawn(self._expire(lease, deadline), name=f"memory kv: expiry of lease {lease}")
        self._leases[lease] = _Lease(expiry)
        return lease

    async def revoke_lease(self, lease: int) -> None:
        self._check_open()
        self._lease(lease).expiry.cancel()
        self._end_lease(lease)

    @asynccontextmanager
    async def watch(self, start: bytes, end: bytes, *, revision: int) -> AsyncIterator[AsyncIterator[EventBatch]]:
        self._check_open()
        watcher = LocalWatcher(start, end, revision=revision, feed=self._feed, replay=self.replay)
        try:
            yield watcher
        finally:
            watcher.leave()

    def on_revision(self, note: Callable[[int], None]) -> None:
        self._feed.on_revision(note)

    async def replay(self, wanted: Replay) -> Replayed:
        await asyncio.sleep(0)  # others run; behind it, for what a compaction takes meanwhile must not be given out
        return self._history.replay(wanted, limit=_REVISIONS_PER_TURN)

    async def request_progress(self) -> None:
        self._check_open()
        self._feed.promise_progress()

    async def current_revision(self) -> int:
        return self.known_revision()

    def known_revision(self) -> int:
        """The revision of the store. Each read calls it, so an open engine makes no further call."""
        if self._is_closed:
            self._check_open()
        return self._history.revision

    async def compact(self, revision: int) -> None:
        self._check_open()
        self._history.compact(revision)
        self._feed.compact(revision)
        self._space.past.compact(revision)
        while self._history.release(_REVISIONS_PER_TURN):  # noqa: ASYNC110 - a long work in parts, not a poll
            await asyncio.sleep(0)
        self._note_use()

    def snapshot(self) -> Snapshot:
        """All present records."""
        self._check_open()
        return Snapshot(self._history.present(), self._history.revision)

    def restore(self, wanted: Snapshot) -> int:
        """Return to the state of a snapshot at once. Returns the revision of that state. Raises Closed.

        When many keys change, watches on most of them end as if they had been compacted.
        """
        self._check_open()
        change = difference(self._history.present(), wanted, self._leases)
        silent: Collection[bytes] = ()
        if len(change.gone) + len(change.written) > _MOST_TOLD:
            silent = self._feed.drop_widest(change.changed, spare=_MOST_TOLD)
        silent_part, reported = change.divided(silent)
        self._restore_telling(reported)
        if silent:
            self._restore_at_once(silent_part)
        return self._history.revision

    async def health(self) -> Health:
        if self._is_closed:
            return Health(healthy=False, reason="closed")
        return Health(healthy=True, reason=self._space.warning)

    async def close(self) -> None:
        self._is_closed = True
        self._feed.fail(Closed("the engine was closed"))
        await self._tasks.close()

    def statistics(self) -> Mapping[str, int]:
        """Sizes, for metrics and for people."""
        return {
            **self._history.statistics(),
            "leases": len(self._leases),
            "watches": len(self._feed),
            "queued_batches": self._feed.backlog,
            **self._space.statistics(),
        }

    def _restore_telling(self, change: Difference) -> None:
        events = [event for key in change.gone for event in self._history.delete((key,))]
        events += [self._history.put(record.key, record.value, lease=record.lease) for record in change.written]
        for event in events:
            self._attach(event)
        if events:
            self._publish(events)

    def _restore_at_once(self, change: Difference) -> None:
        for key in change.changed:
            self._let_go(self._history.current(key))
        self._history.replace(change.gone, change.written)
        for record in change.written:
            if record.lease:
                self._leases[record.lease].keys.add(record.key)
        self._space.past.compact(self._history.compact_revision)
        self._measure_live()
        self._publish(())

    def _check_open(self) -> None:
        if self._is_closed:
            raise Closed("the engine was closed")

    def _check_readable(self, revision: int) -> None:
        self._check_open()
        if revision:
            self._history.check_kept(revision)

    def _lease(self, lease: int) -> _Lease:
        try:
            return self._leases[lease]
        except KeyError:
            raise LeaseNotFound(f"lease {lease} has expired or never existed") from None

    async def _expire(self, lease: int, deadline: float) -> None:
        await self._clock.sleep(deadline - self._clock.monotonic())
        self._end_lease(lease)

    def _end_lease(self, lease: int) -> None:
        keys = self._leases[lease].keys
        if keys:
            self._delete(tuple(keys))
        del self._leases[lease]

    def _delete(self, keys: Iterable[bytes]) -> None:
        events = self._history.delete(keys)
        for event in events:
            self._let_go(event.previous)
        self._publish(events)

    def _attach(self, event: Event) -> None:
        self._let_go(event.previous)
        if event.record.lease:
            self._leases[event.record.lease].keys.add(event.record.key)

    def _let_go(self, record: Record | None) -> None:
        """Detach a removed record from its lease."""
        if record is not None and record.lease:
            self._leases[record.lease].keys.discard(record.key)

    def _publish(self, events: Sequence[Event]) -> None:
        self._space.add(events)
        self._live_bytes += sum(map(_growth, events))
        self._note_use()
        self._feed.publish(events, self._history.revision)

    def _charge(self, value: bytes, current: Record | None) -> None:
        """Raises NoSpace."""
        try:
            self._quota.charge(value, current)
        finally:
            self._space.check()

    def _note_use(self) -> None:
        self._quota.note(self._live_bytes + self._space.past.bytes)
        self._space.check()

    def _measure_live(self) -> None:
        self._live_bytes = sum(map(_bytes_of, self._history.present().values()))


def _growth(event: Event) -> int:
    """How much more the present records take after an event."""
    before = _bytes_of(event.previous) if event.previous is not None else 0
    return (_bytes_of(event.record) if event.type is EventType.PUT else 0) - before


def _bytes_of(record: Record) -> int:
    return len(record.key) + len(record.value)


def _without_value(record: Record) -> Record:
    return Record(record.key, b"", record.create_revision, record.mod_revision, record.version, record.lease)
