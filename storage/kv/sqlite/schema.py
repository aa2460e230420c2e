"""Schema: the tables of the store's file, and how the file is opened and checked.

    records   one row per write, deletions included, in order of revision; superseded rows stay until compaction
    heads     the newest row of each key: the present state
    leases    the leases that have not ended
    state     one row: the compact revision, and the row up to which superseded rows were removed

A row's id is its revision, with the row's position among the rows of that revision. The position is 0 but for the end
of a lease. So the table itself is the log that watches replay, without an index. `previous` is the id of the key's row
before. Events find their previous record by it, and compaction the superseded rows. Reads of the past follow it, at a
cost that grows with the later writes of the key. An index of history by (key, id) instead would make each write a
quarter slower, measured, and the file a third larger.

Example: put a=1 (revision 2), put b=1 (3), put a=2 (4), delete b (5); 2/0 stands for id 2 << 20 | 0

    records   2/0 a=1    3/0 b=1    4/0 a=2 previous 2/0    5/0 b deleted, previous 3/0
    heads     a -> 4/0 live    b -> 5/0 not live

After compacting at 5: 4/0, 5/0 and both heads. The deletion goes with the next compaction.
"""

# ruff: noqa: S608 - statements are put together from constants
import contextlib
import logging
import os
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from aio_apiserver.storage.errors import Compacted, Corrupt, FutureRevision, Unavailable

logger = logging.getLogger(__name__)

Connection = sqlite3.Connection

POSITION_BITS = 20
POSITIONS = 1 << POSITION_BITS
PAGE_BYTES = 8192
"""Of 4, 8 and 16 KiB: a usual object (2-4 KiB) wastes a third of a 4 KiB page; 16 KiB double the bytes written for a
new key.
"""

SCHEMA_VERSION = 2
APPLICATION_ID = 0x61696F6B

_WRITER_CACHE_KIB = 8192
_READER_CACHE_KIB = 2048
_WRITER_BUSY_SECONDS = 1.0
_READER_BUSY_SECONDS = 5.0
_JOURNAL_LIMIT_BYTES = 16 << 20

_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    previous INTEGER NOT NULL,
    create_revision INTEGER NOT NULL,
    version INTEGER NOT NULL,
    lease INTEGER NOT NULL,
    value BLOB NOT NULL
);
CREATE TABLE heads (
    key BLOB PRIMARY KEY,
    id INTEGER NOT NULL,
    is_live INTEGER NOT NULL,
    lease INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX heads_by_lease ON heads (lease) WHERE lease <> 0;
CREATE TABLE leases (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ttl INTEGER NOT NULL,
    expires REAL NOT NULL
);
CREATE TABLE state (
    compact_revision INTEGER NOT NULL,
    swept INTEGER NOT NULL,
    store_id BLOB NOT NULL DEFAULT x''
);
INSERT INTO state VALUES (0, 0, randomblob(16));
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""

_UPGRADES: Mapping[int, str] = {
    1: "ALTER TABLE state ADD COLUMN store_id BLOB NOT NULL DEFAULT x''; UPDATE state SET store_id = randomblob(16);",
}
"""By the version of a file: the statements that make it the next version."""

_READ_STATE = f"SELECT (SELECT max(id) FROM records) >> {POSITION_BITS}, compact_revision FROM state"


class StoreRevisions(Struct, frozen=True):
    """The revisions of the store."""

    revision: int
    compact_revision: int

    def check_kept(self, revision: int) -> None:
        """Raise for a revision that cannot be read."""
        if revision > self.revision:
            raise FutureRevision(revision, self.revision)
        if revision < self.compact_revision:
            raise Compacted(revision, self.compact_revision)


class Lease(Struct, frozen=True):
    """A lease that has not ended. `expires` is in seconds since the epoch."""

    id: int
    ttl: int
    expires: float


def first_id(revision: int) -> int:
    """The smallest id that a row of the revision can have."""
    return revision << POSITION_BITS


def read_state(connection: Connection) -> StoreRevisions:
    """The state as the connection's transaction sees it."""
    revision, compact_revision = connection.execute(_READ_STATE).fetchone()
    return StoreRevisions(revision or 1, compact_revision)


def has_rows_to_sweep(connection: Connection) -> bool:
    """Whether a sweep has not yet reached the compact revision."""
    swept, compacted = connection.execute("SELECT swept, compact_revision FROM state").fetchone()
    return int(swept) + 1 < first_id(compacted)


def read_store_id(connection: Connection) -> bytes:
    """The identity of the store, which a restored copy does not share; empty before schema version 2."""
    if _number(connection, "PRAGMA user_version") < 2:
        return b""
    (store_id,) = connection.execute("SELECT store_id FROM state").fetchone()
    return bytes(store_id)


def read_leases(connection: Connection) -> Sequence[Lease]:
    """All leases that have not ended."""
    return [Lease(*row) for row in connection.execute("SELECT id, ttl, expires FROM leases")]


def open_for_writing(path: Path) -> Connection:
    """The connection of the writer. Creates the tables of a new store, and upgrades those of an older release.

    Raises Corrupt for a file that is no store, and for one of a newer release.
    """
    connection = _connect(path, busy_seconds=_WRITER_BUSY_SECONDS)
    with _closed_on_failure(connection):
        if _is_empty(connection):
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        else:
            check_identity(connection, path)
        _set_write_ahead_log(connection, path)
        if _is_empty(connection):
            connection.executescript(_TABLES)
        _upgrade(connection, path)
        connection.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}")
        connection.execute("PRAGMA secure_delete = FAST")
        connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def open_for_reading(path: Path, *, is_unchanging: bool = False) -> Connection:
    """A connection that cannot write, and so takes no part in checkpoints.

    SQLite makes files beside a database with a log. Where it cannot, a database without a log does not change.
    is_unchanging: whether the caller knows that it has no log, and that no process uses it.
    """
    is_kept = is_unchanging or _is_kept(path)
    connection = _unchanging(path) if is_kept else _connect(path, busy_seconds=_READER_BUSY_SECONDS)
    with _closed_on_failure(connection):
        connection.execute("PRAGMA query_only = ON")
        connection.execute(f"PRAGMA cache_size = -{_READER_CACHE_KIB}")
        connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def _is_kept(path: Path) -> bool:
    """Whether a database is on a file system that is read-only, and its last server has closed it."""
    is_closed = not path.with_name(f"{path.name}-wal").exists()
    return is_closed and sys.platform != "win32" and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _unchanging(path: Path) -> Connection:
    uri = f"{path.absolute().as_uri()}?immutable=1"
    return sqlite3.connect(uri, uri=True, isolation_level=None)


def _connect(path: Path, *, busy_seconds: float) -> Connection:
    return sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)


@contextlib.contextmanager
def _closed_on_failure(connection: Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _is_empty(connection: Connection) -> bool:
    return _number(connection, "SELECT count(*) FROM sqlite_master") == 0


def check_identity(connection: Connection, path: Path) -> None:
    """Raises Corrupt for a database of another program, or of a newer release."""
    if _number(connection, "PRAGMA application_id") != APPLICATION_ID:
        raise Corrupt(str(path), "it is an SQLite database, but not a store of this program")
    version = _number(connection, "PRAGMA user_version")
    if version > SCHEMA_VERSION:
        raise Corrupt(
            str(path),
            f"it has schema version {version}, this program knows {SCHEMA_VERSION}: use the newer release",
        )


def _upgrade(connection: Connection, path: Path) -> None:
    """Upgrade step by step. A step is one transaction, so that a kill leaves a whole store of some version."""
    while (version := _number(connection, "PRAGMA user_version")) < SCHEMA_VERSION:
        step = _UPGRADES[version]
        connection.executescript(f"BEGIN IMMEDIATE; {step} PRAGMA user_version = {version + 1}; COMMIT;")
        logger.info("%s: upgraded to schema version %d", path, version + 1)


def _set_write_ahead_log(connection: Connection, path: Path) -> None:
    """Each commit is on the disk when it returns. Checkpoints run when the writer has time for them."""
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise Unavailable(f"{path}: the file system does not support write-ahead logging")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute(f"PRAGMA journal_size_limit = {_JOURNAL_LIMIT_BYTES}")


def _number(connection: Connection, statement: str) -> int:
    (value,) = connection.execute(statement).fetchone()
    return int(value)
