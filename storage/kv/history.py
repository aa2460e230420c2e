"""History: keys and their records at all revisions, in memory.

Pure: no I/O, no clock, no waiting. Callers are on one event loop, and every method is one step. Leases are numbers in
records here.

Must hold: each change takes the next revision. A kept revision shows the same records. A superseded record is in
`_past` until compaction releases it.

Example: put a=1 (revision 2), put a=2 (3), delete a (4), put a=3 (5)

    _live    a: (a=3, create 5, mod 5, version 1)
    _past    a: [(a=1, mod 2), (a=2, mod 3), (tombstone, mod 4)]
    _events  2: (PUT a=1), 3: (PUT a=2, previous a=1), 4: (DELETE, previous a=2), 5: (PUT a=3)

After compacting at 4, where `a` does not exist, `_past` is empty. `_events` has 4 (without previous) and 5.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace
from sortedcontainers import SortedDict

from aio_apiserver.storage.errors import Compacted, FutureRevision
from aio_apiserver.storage.kv.interface import Event, EventType
from aio_apiserver.storage.kv.replay import Replay, Replayed
from aio_apiserver.storage.record import Record

_MOD_REVISION = attrgetter("mod_revision")


class Slice(Struct, frozen=True):
    """A part of a range: its first records, and the number of records in the whole range."""

    records: Sequence[Record]
    count: int


class History:
    """The MVCC state of one store."""

    def __init__(self, records: Mapping[bytes, Record] | None = None, revision: int = 1) -> None:
        """An empty store, or one with records at a revision whose earlier history is compacted."""
        self.revision = revision
        self.compact_revision = revision if records else 0
        self._live: SortedDict[bytes, Record] = SortedDict(records or {})
        self._past: SortedDict[bytes, list[Record]] = SortedDict()
        self._events: dict[int, tuple[Event, ...]] = {}
        self._released = revision  # nothing before this revision is held any more

    def current(self, key: bytes) -> Record | None:
        """The present record of a key."""
        record: Record | None = self._live.get(key)
        return record

    def at(self, key: bytes, revision: int) -> Record | None:
        """The record of a key at a kept revision."""
        live = self.current(key)
        if live is not None and live.mod_revision <= revision:
            return live
        past = self._past.get(key, ())
        index = bisect_right(past, revision, key=_MOD_REVISION)
        return _unless_tombstone(past[index - 1]) if index else None

    def present(self) -> dict[bytes, Record]:
        """All present records, in no order."""
        return dict.copy(self._live)

    def range(self, start: bytes, end: bytes, *, limit: int | None) -> Slice:
        """The range at present. A limit of None means all."""
        keys = self._live.irange(start, end, inclusive=(True, False))
        count = self._live.bisect_left(end) - self._live.bisect_left(start)
        return Slice([self._live[key] for key in islice(keys, limit)], max(count, 0))

    def range_at(self, start: bytes, end: bytes, *, limit: int | None, revision: int) -> Slice:
        """The range at a kept revision. A limit of None means all."""
        live, past = (keys.irange(start, end, inclusive=(True, False)) for keys in (self._live, self._past))
        every_key = dict.fromkeys(sorted([*live, *past]))
        records = [record for key in every_key if (record := self.at(key, revision)) is not None]
        return Slice(records[:limit], len(records))

    def check_kept(self, revision: int) -> None:
        """Raise Compacted or FutureRevision for a revision that cannot be read."""
        if revision > self.revision:
            raise FutureRevision(revision, self.revision)
        if revision < self.compact_revision:
            raise Compacted(revision, self.compact_revision)

    def events(self, revision: int) -> Sequence[Event]:
        """The events of a kept revision, in key order."""
        return self._events.get(revision, ())

    def replay(self, wanted: Replay, *, limit: int) -> Replayed:
        """The first part of a replay, with `limit` revisions at most."""
        if wanted.first < self.compact_revision:
            raise Compacted(wanted.first, self.compact_revision)
        end = min(wanted.first + limit, wanted.last + 1)
        happened = chain.from_iterable(map(self.events, range(wanted.first, end)))
        return Replayed([event for event in happened if wanted.start <= event.record.key < wanted.end], end)

    def put(self, key: bytes, value: bytes, *, lease: int) -> Event:
        """Write a key at the next revision."""
        revision = self.revision + 1
        previous = self.current(key)
        if previous is not None:
            self._past.setdefault(key, []).append(previous)
        record = self._live[key] = _behind(previous, key, value, revision=revision, lease=lease)
        event = Event(EventType.PUT, record, previous)
        self._commit(revision, (event,))
        return event

    def replace(self, gone: Iterable[bytes], written: Iterable[Record]) -> None:
        """Change many keys at once and drop the history: everything up to now is compacted.

        A key in both arguments is created anew. The change takes a revision that cannot be read or watched. The compact
        revision is the one after it.
        """
        revision = self.revision + 1
        live = self.present()
        for key in gone:
            del live[key]
        for record in written:
            key = record.key
            live[key] = _behind(live.get(key), key, record.value, revision=revision, lease=record.lease)
        self._live = SortedDict(live)
        self._past.clear()
        self._events.clear()
        self.revision = self.compact_revision = self._released = revision + 1

    def delete(self, keys: Iterable[bytes]) -> Sequence[Event]:
        """Delete existing keys, all at the next revision."""
        revision = self.revision + 1
        events = tuple(self._bury(key, revision) for key in sorted(keys))
        self._commit(revision, events)
        return events

    def compact(self, revision: int) -> None:
        """Make all revisions below this one unreadable. `release` then frees them in parts."""
        if revision <= self.compact_revision:
            raise Compacted(revision, self.compact_revision)
        if revision > self.revision:
            raise FutureRevision(revision, self.revision)
        self.compact_revision = revision

    def release(self, limit: int) -> bool:
        """Free compacted revisions, `limit` at most. Returns False when none is left.

        Only keys that changed below the compact revision can have something to free, and `_events` names them.
        """
        for revision in range(self._released, min(self._released + limit, self.compact_revision)):
            for event in self._events.pop(revision, ()):
                self._trim(event.record.key)
            self._released = revision + 1
        if self._released < self.compact_revision:
            return True
        self._release_previous(self.compact_revision)
        return False

    def statistics(self) -> Mapping[str, int]:
        """Revisions, and the number of records held."""
        return {
            "revision": self.revision,
            "compact_revision": self.compact_revision,
            "keys": len(self._live),
            "past_records": sum(map(len, self._past.values())),
            "revisions_with_events": len(self._events),
        }

    def _release_previous(self, revision: int) -> None:
        events = self._events.get(revision)
        if events is not None:
            self._events[revision] = tuple(replace(event, previous=None) for event in events)
            for event in events:
                self._trim(event.record.key)

    def _trim(self, key: bytes) -> None:
        past = self._past.get(key)
        if past is None:
            return
        live = self.current(key)
        if live is not None and live.mod_revision <= self.compact_revision:
            del self._past[key]
            return
        visible = bisect_right(past, self.compact_revision, key=_MOD_REVISION) - 1
        if visible >= 0:
            del past[: visible if past[visible].version else visible + 1]
        if not past:
            del self._past[key]

    def _bury(self, key: bytes, revision: int) -> Event:
        previous: Record = self._live.pop(key)
        tombstone = Record(key, b"", 0, revision, 0)
        self._past.setdefault(key, []).extend((previous, tombstone))
        return Event(EventType.DELETE, tombstone, previous)

    def _commit(self, revision: int, events: tuple[Event, ...]) -> None:
        self._events[revision] = events
        self.revision = revision


def _behind(previous: Record | None, key: bytes, value: bytes, *, revision: int, lease: int) -> Record:
    """The record of a write, after the previous record of the key."""
    if previous is None:
        return Record(key, value, revision, revision, 1, lease)
    return Record(key, value, previous.create_revision, revision, previous.version + 1, lease)


def _unless_tombstone(record: Record) -> Record | None:
    return record if record.version else None
