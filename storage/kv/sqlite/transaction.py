"""Transaction: a group of writes in the making, on the writer's thread.

It reads what it needs once, keeps the changes of the group in memory, and writes all rows at the end. It does not know
the queue, the event loop and the commit. Must hold: reads see the group's own earlier writes. Nothing of it is visible
before the commit.
"""

from collections.abc import Sequence
from typing import NamedTuple

from aio_apiserver.storage.kv.interface import Event, EventType
from aio_apiserver.storage.kv.quota import Quota
from aio_apiserver.storage.kv.sqlite.schema import POSITIONS, Connection, first_id
from aio_apiserver.storage.record import Record

_SELECT_HEAD = """
SELECT h.id, h.is_live, r.value, r.create_revision, r.version, r.lease
FROM heads h JOIN records r ON r.id = h.id
WHERE h.key = ?
"""
_INSERT_RECORD = "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)"
_UPSERT_HEAD = """
INSERT INTO heads VALUES (?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET id = excluded.id, is_live = excluded.is_live, lease = excluded.lease
"""


class Head(NamedTuple):
    """The newest row of a key: its id, and its record unless it is a deletion. Id 0: the key has no row."""

    id: int
    record: Record | None


_NO_HEAD = Head(0, None)


class WriteTransaction:
    """Runs after `BEGIN`. `revision` and `compact_revision` advance with each write, ahead of the store's own."""

    def __init__(self, connection: Connection, quota: Quota, *, revision: int, compact_revision: int) -> None:
        self.connection = connection
        self.quota = quota
        self.revision = revision
        self.compact_revision = compact_revision
        self.events: list[Event] = []
        self._heads: dict[bytes, Head] = {}
        self._new_records: list[tuple[int, bytes, int, int, int, int, bytes]] = []
        self._new_heads: dict[bytes, tuple[bytes, int, bool, int]] = {}

    def current(self, key: bytes) -> Record | None:
        """The key's record at this point of the group."""
        return self._head(key).record

    def put(self, key: bytes, value: bytes, *, lease: int) -> Record:
        """Write a key at the next revision."""
        self.revision += 1
        previous = self._head(key)
        if previous.record is None:
            record = Record(key, value, self.revision, self.revision, 1, lease)
        else:
            old = previous.record
            record = Record(key, value, old.create_revision, self.revision, old.version + 1, lease)
        self._append(record, previous, 0)
        self._heads[key] = Head(first_id(self.revision), record)
        self.events.append(Event(EventType.PUT, record, previous.record))
        return record

    def delete(self, keys: Sequence[bytes]) -> None:
        """Delete existing keys, all at the next revision. More than a million keys take more revisions."""
        for start in range(0, len(keys), POSITIONS):
            self.revision += 1
            for position, key in enumerate(keys[start : start + POSITIONS]):
                self._bury(key, position)

    def flush(self) -> None:
        """Write the rows, for the commit or for a statement that has to see them."""
        if self._new_records:
            self.connection.executemany(_INSERT_RECORD, self._new_records)
            self.connection.executemany(_UPSERT_HEAD, self._new_heads.values())
            self._new_records.clear()
            self._new_heads.clear()

    def _bury(self, key: bytes, position: int) -> None:
        previous = self._head(key)
        tombstone = Record(key, b"", 0, self.revision, 0)
        self._append(tombstone, previous, position)
        self._heads[key] = Head(first_id(self.revision) + position, None)
        self.events.append(Event(EventType.DELETE, tombstone, previous.record))

    def _head(self, key: bytes) -> Head:
        head = self._heads.get(key)
        if head is None:
            head = self._heads[key] = self._read_head(key)
        return head

    def _read_head(self, key: bytes) -> Head:
        row = self.connection.execute(_SELECT_HEAD, (key,)).fetchone()
        if row is None:
            return _NO_HEAD
        row_id, is_live, value, create_revision, version, lease = row
        if not is_live:
            return Head(row_id, None)
        return Head(row_id, Record(key, value, create_revision, row_id // POSITIONS, version, lease))

    def _append(self, record: Record, previous: Head, position: int) -> None:
        row_id = first_id(self.revision) + position
        self._new_records.append(
            (row_id, record.key, previous.id, record.create_revision, record.version, record.lease, record.value)
        )
        self._new_heads[record.key] = (record.key, row_id, record.version > 0, record.lease)
