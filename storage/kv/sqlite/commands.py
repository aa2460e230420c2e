"""Commands: the commands of the writer, each one step of a transaction.

They run on the writer's thread, in order of arrival. Each sees the effects of those before it. A command that raises
has changed nothing, and the others of its group go on.
"""

from typing import Any, Protocol

from msgspec import Struct

from aio_apiserver.storage.errors import Compacted, FutureRevision, LeaseNotFound
from aio_apiserver.storage.kv.interface import WriteResult
from aio_apiserver.storage.kv.sqlite.schema import first_id
from aio_apiserver.storage.kv.sqlite.transaction import WriteTransaction

_SWEEP_ROWS = 256
"""The rows of the log in one step of a sweep: some milliseconds, in which no other write runs."""

_DELETE_SUPERSEDED = """
DELETE FROM records WHERE id IN (SELECT previous FROM records WHERE id > :swept AND id <= :last)
"""
_DELETE_HEADS_OF_DELETED = """
DELETE FROM heads
WHERE NOT is_live AND id > :swept AND id <= :last
AND key IN (SELECT key FROM records WHERE id > :swept AND id <= :last AND version = 0)
"""
_DELETE_DELETED = "DELETE FROM records WHERE id > :swept AND id <= :last AND version = 0"


class Command(Protocol):
    """One step of a transaction.

    size: the bytes that it carries, to limit the size of a group. may_free: whether it can lead to more free space.
    """

    @property
    def size(self) -> int: ...

    @property
    def may_free(self) -> bool: ...

    def apply(self, transaction: WriteTransaction) -> Any:
        """Make the changes. The return value is the command's result if the transaction is committed."""
        ...


class Put(Struct, frozen=True):
    """Compare-and-set. An expected revision of 0 creates the key."""

    key: bytes
    value: bytes
    expected_mod_revision: int
    lease: int

    @property
    def size(self) -> int:
        return len(self.value)

    @property
    def may_free(self) -> bool:
        """Whether it may be the mark of a deletion."""
        return self.expected_mod_revision != 0

    def apply(self, transaction: WriteTransaction) -> WriteResult:
        current = transaction.current(self.key)
        if self.expected_mod_revision != (current.mod_revision if current else 0):
            return WriteResult(False, transaction.revision, current)
        if self.lease:
            _check_lease(transaction, self.lease)
        transaction.quota.charge(self.value, current)
        record = transaction.put(self.key, self.value, lease=self.lease)
        return WriteResult(True, record.mod_revision)


class Delete(Struct, frozen=True):
    """Compare-and-delete."""

    key: bytes
    expected_mod_revision: int
    size = 0
    may_free = True

    def apply(self, transaction: WriteTransaction) -> WriteResult:
        current = transaction.current(self.key)
        if current is None or current.mod_revision != self.expected_mod_revision:
            return WriteResult(False, transaction.revision, current)
        transaction.delete((self.key,))
        return WriteResult(True, transaction.revision)


class Grant(Struct, frozen=True):
    """Create a lease. Its id is not used again."""

    ttl: int
    expires: float
    size = 0
    may_free = False

    def apply(self, transaction: WriteTransaction) -> int:
        cursor = transaction.connection.execute(
            "INSERT INTO leases (ttl, expires) VALUES (?, ?)", (self.ttl, self.expires)
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid


class Revoke(Struct, frozen=True):
    """End a lease and delete its keys, in key order and in one revision."""

    lease: int
    size = 0
    may_free = True

    def apply(self, transaction: WriteTransaction) -> None:
        _check_lease(transaction, self.lease)
        transaction.flush()
        transaction.connection.execute("DELETE FROM leases WHERE id = ?", (self.lease,))
        keys = transaction.connection.execute(
            "SELECT key FROM heads WHERE lease = ? AND lease <> 0 ORDER BY key", (self.lease,)
        ).fetchall()
        transaction.delete([key for (key,) in keys])


class Compact(Struct, frozen=True):
    """Compact: history below the revision cannot be read any more. Sweeps remove it."""

    revision: int
    size = 0
    may_free = True

    def apply(self, transaction: WriteTransaction) -> None:
        if self.revision <= transaction.compact_revision:
            raise Compacted(self.revision, transaction.compact_revision)
        if self.revision > transaction.revision:
            raise FutureRevision(self.revision, transaction.revision)
        transaction.connection.execute("UPDATE state SET compact_revision = ?", (self.revision,))
        transaction.compact_revision = self.revision


class Sweep(Struct, frozen=True):
    """Remove some rows that no kept revision shows. The result is True when none is left.

    It goes along the log up to the compact revision. It removes what a row there supersedes, and deletions themselves,
    with the key's head if no later row exists.
    """

    size = 0
    may_free = True

    def apply(self, transaction: WriteTransaction) -> bool:
        transaction.flush()
        connection = transaction.connection
        (swept,) = connection.execute("SELECT swept FROM state").fetchone()
        if swept + 1 >= first_id(transaction.compact_revision):
            return True
        last, is_done = _end_of_step(transaction, swept)
        window = {"swept": swept, "last": last}
        for statement in (_DELETE_SUPERSEDED, _DELETE_HEADS_OF_DELETED, _DELETE_DELETED):
            connection.execute(statement, window)
        connection.execute("UPDATE state SET swept = ?", (last,))
        return is_done


class Probe(Struct, frozen=True):
    """Check whether the writer answers and, with `is_write`, whether the disk accepts writes."""

    is_write: bool
    size = 0
    may_free = False

    def apply(self, transaction: WriteTransaction) -> None:
        if self.is_write:
            transaction.connection.execute("UPDATE state SET swept = swept")


def _check_lease(transaction: WriteTransaction, lease: int) -> None:
    found = transaction.connection.execute("SELECT 1 FROM leases WHERE id = ?", (lease,)).fetchone()
    if found is None:
        raise LeaseNotFound(f"lease {lease} has expired or never existed")


def _end_of_step(transaction: WriteTransaction, swept: int) -> tuple[int, bool]:
    end = first_id(transaction.compact_revision)
    row = transaction.connection.execute(
        "SELECT id FROM records WHERE id > ? AND id < ? ORDER BY id LIMIT 1 OFFSET ?", (swept, end, _SWEEP_ROWS - 1)
    ).fetchone()
    return (end - 1, True) if row is None else (row[0], False)
