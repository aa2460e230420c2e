"""Loading: makes the file of a new store from records, with their revisions: a restore into an empty data directory.

A store that has objects already goes on behind the revision of a copy in one step (`raise_revision`).

Must hold: the store gets its name when it is whole and on the disk. A load that was killed leaves no store, and the
next one begins again. The history before the records' revision counts as compacted: older watches list again.
"""

import contextlib
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from aio_apiserver.storage.errors import StoreNotEmpty
from aio_apiserver.storage.kv.sqlite import schema
from aio_apiserver.storage.kv.sqlite.data_dir import DataDir
from aio_apiserver.storage.kv.sqlite.error_codes import ErrorTranslator
from aio_apiserver.storage.kv.sqlite.schema import Connection, first_id
from aio_apiserver.storage.record import Record

_ROWS = 1_000
_INSERT_RECORD = "INSERT INTO records VALUES (?, ?, 0, ?, ?, ?, ?)"
_INSERT_HEAD = "INSERT INTO heads VALUES (?, ?, 1, ?)"
_REVISION_KEY = b"\0revision"
"""A deleted key whose row holds the revision of the store, when the newest write was a deletion."""


def raise_revision(directory: Path, revision: int) -> None:
    """Let a store that no process uses go on behind a revision, unless it has passed it. A missing store is made.

    Raises DataDirLocked, Corrupt, NoSpace, Unavailable.
    """
    data_dir = DataDir(directory)
    faults = ErrorTranslator(data_dir.database)
    try:
        data_dir.acquire()
        data_dir.create_database_file()
        with contextlib.closing(schema.open_for_writing(data_dir.database)) as connection:
            if schema.read_state(connection).revision < revision:
                _skip_to(connection, revision)
    except (sqlite3.Error, OSError) as exc:
        raise faults.translate(exc) from exc
    finally:
        data_dir.release()


def _skip_to(connection: Connection, revision: int) -> None:
    """Write the row that holds the revision. It supersedes an earlier one."""
    connection.execute("BEGIN IMMEDIATE")
    head = connection.execute("SELECT id FROM heads WHERE key = ?", (_REVISION_KEY,)).fetchone()
    previous = head[0] if head is not None else 0
    connection.execute(
        "INSERT INTO records VALUES (?, ?, ?, 0, 0, 0, x'')", (first_id(revision), _REVISION_KEY, previous)
    )
    connection.execute("INSERT OR REPLACE INTO heads VALUES (?, ?, 0, 0)", (_REVISION_KEY, first_id(revision)))
    connection.execute("COMMIT")


async def load(
    directory: Path,
    records: AsyncIterator[Record],
    *,
    revision: int,
    lease_seconds: Callable[[int], Awaitable[int]],
    advance: Callable[[], None],
) -> int:
    """Make the store in a directory without one. Returns the number of keys.

    Raises StoreNotEmpty when there is a store, DataDirLocked, NoSpace, Unavailable, and what `records` raises.
    """
    data_dir = DataDir(directory)
    faults = ErrorTranslator(data_dir.database)
    try:
        data_dir.acquire()
        if data_dir.database.exists():
            raise StoreNotEmpty(f"{directory} has a store already: name another one")
        return await _load(data_dir, records, revision=revision, lease_seconds=lease_seconds, advance=advance)
    except (sqlite3.Error, OSError) as exc:
        raise faults.translate(exc) from exc
    finally:
        data_dir.release()


async def _load(
    data_dir: DataDir,
    records: AsyncIterator[Record],
    *,
    revision: int,
    lease_seconds: Callable[[int], Awaitable[int]],
    advance: Callable[[], None],
) -> int:
    unfinished = data_dir.new_database_file()
    connection = schema.open_for_writing(unfinished)
    try:
        connection.execute("PRAGMA synchronous = OFF")  # nothing counts before the file has its name
        connection.execute("BEGIN")
        filling = _Filling(connection)
        async for record in records:
            await filling.add(record, lease_seconds)
            advance()
        filling.finish(revision)
        connection.execute("COMMIT")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.close()
    data_dir.adopt(unfinished)
    return filling.keys


class _Filling:
    """Rows in the making, in one transaction."""

    def __init__(self, connection: Connection) -> None:
        self.keys = 0
        self._connection = connection
        self._records: list[tuple[int, bytes, int, int, int, bytes]] = []
        self._heads: list[tuple[bytes, int, int]] = []
        self._positions: Counter[int] = Counter()
        self._leases: dict[int, int] = {}

    async def add(self, record: Record, lease_seconds: Callable[[int], Awaitable[int]]) -> None:
        lease = 0
        if record.lease:
            if record.lease not in self._leases:
                self._leases[record.lease] = self._new_lease(max(1, await lease_seconds(record.lease)))
            lease = self._leases[record.lease]
        row_id = first_id(record.mod_revision) + self._positions[record.mod_revision]
        self._positions[record.mod_revision] += 1
        self._records.append((row_id, record.key, record.create_revision, record.version, lease, record.value))
        self._heads.append((record.key, row_id, lease))
        self.keys += 1
        if len(self._records) >= _ROWS:
            self._flush()

    def finish(self, revision: int) -> None:
        """Write the rest, and the revision of the store."""
        self._flush()
        if revision not in self._positions and revision > 1:
            self._connection.execute(_INSERT_RECORD, (first_id(revision), _REVISION_KEY, 0, 0, 0, b""))
            self._connection.execute("INSERT INTO heads VALUES (?, ?, 0, 0)", (_REVISION_KEY, first_id(revision)))
        self._connection.execute("UPDATE state SET compact_revision = ?, swept = ?", (revision, first_id(revision) - 1))

    def _new_lease(self, seconds: int) -> int:
        inserted = self._connection.execute(
            "INSERT INTO leases (ttl, expires) VALUES (?, ?)", (seconds, time.time() + seconds)
        )
        return int(inserted.lastrowid or 0)

    def _flush(self) -> None:
        self._connection.executemany(_INSERT_RECORD, self._records)
        self._connection.executemany(_INSERT_HEAD, self._heads)
        self._records.clear()
        self._heads.clear()
