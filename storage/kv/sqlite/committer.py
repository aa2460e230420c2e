"""Committer: runs a group of commands as one transaction with one fsync, on the writer's thread.

Must hold: a commit that fails does not advance the store's revision. A failed group leaves nothing that a later group
could build on.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.storage.errors import NoSpace, StorageError
from aio_apiserver.storage.kv.interface import Event
from aio_apiserver.storage.kv.quota import Quota
from aio_apiserver.storage.kv.sqlite import upkeep
from aio_apiserver.storage.kv.sqlite.commands import Command
from aio_apiserver.storage.kv.sqlite.error_codes import ErrorTranslator
from aio_apiserver.storage.kv.sqlite.schema import PAGE_BYTES, Connection, StoreRevisions
from aio_apiserver.storage.kv.sqlite.transaction import WriteTransaction


class CommandFailure(Struct, frozen=True):
    """Why a command failed. Each waiting caller gets a new exception."""

    cause: Exception
    is_commit: bool = False

    @property
    def is_of_store(self) -> bool:
        return not isinstance(self.cause, StorageError)


class Committed(Struct, frozen=True):
    """The outcome of a group: a result or a CommandFailure for each command, the events in order, and the store's
    revision.

    changes: rows that were written or removed. log_bytes: the approximate size that this added to the write-ahead log.
    """

    results: Sequence[Any]
    events: Sequence[Event]
    revision: int
    changes: int = 0
    log_bytes: int = 0

    @property
    def is_failure_of_store(self) -> bool:
        """Whether the store failed, and not just one command."""
        return any(isinstance(result, CommandFailure) and result.is_of_store for result in self.results)


class Committer:
    """Commits groups. `before_commit` is called when the COMMIT, with its fsync, is all that is left.

    release_reserve: frees the space that the disk keeps for deletions, and returns whether there was any.
    """

    def __init__(
        self,
        state: StoreRevisions,
        faults: ErrorTranslator,
        quota: Quota,
        *,
        before_commit: Callable[[], None],
        release_reserve: Callable[[], bool],
    ) -> None:
        self._revision = state.revision
        self._compact_revision = state.compact_revision
        self._faults = faults
        self._quota = quota
        self._before_commit = before_commit
        self._release_reserve = release_reserve

    def commit(self, connection: Connection, commands: Sequence[Command]) -> Committed:
        """Run all commands as one transaction.

        When the disk is full, or a command is invalid, each command is tried again alone, because a small one may
        succeed. A group with deletions gets the reserve of the disk. After any other failure of the disk all fail: a
        second try would only make the callers wait longer.
        """
        transaction = WriteTransaction(
            connection, self._quota, revision=self._revision, compact_revision=self._compact_revision
        )
        changes_before, used_before = connection.total_changes, self._quota.used_bytes
        is_commit = False
        try:
            _begin(connection)
            results = [_apply(command, transaction) for command in commands]
            transaction.flush()
            self._before_commit()
            is_commit = True
            connection.execute("COMMIT")
        except Exception as exc:  # noqa: BLE001 - it belongs to those who wait for the commands
            _roll_back(connection)
            self._quota.note(used_before)
            if self._has_more_room(connection, exc, commands):
                return self.commit(connection, commands)
            if len(commands) > 1 and self._is_worth_a_retry(exc):
                return self._commit_each(connection, commands)
            return Committed([CommandFailure(exc, is_commit)] * len(commands), (), self._revision)
        self._revision = transaction.revision
        self._compact_revision = transaction.compact_revision
        if self._quota.is_doubtful:
            self._quota.note(upkeep.used_bytes(connection))
        changes = connection.total_changes - changes_before
        log_bytes = sum(command.size for command in commands) + changes * PAGE_BYTES // 2
        return Committed(results, transaction.events, self._revision, changes, log_bytes)

    def _commit_each(self, connection: Connection, commands: Sequence[Command]) -> Committed:
        parts = [self.commit(connection, (command,)) for command in commands]
        return Committed(
            [result for part in parts for result in part.results],
            [event for part in parts for event in part.events],
            self._revision,
            sum(part.changes for part in parts),
            sum(part.log_bytes for part in parts),
        )

    def _has_more_room(self, connection: Connection, failure: Exception, commands: Sequence[Command]) -> bool:
        """Whether the disk was full, and its reserve is free for these commands now. From then on the alarm is on.

        The log goes into the database first, which may have to grow for it, so that the log can begin anew.
        """
        problem = self._faults.translate(failure)
        if not isinstance(problem, NoSpace) or not any(command.may_free for command in commands):
            return False
        if not self._release_reserve():
            return False
        self._quota.disk_problem = str(problem)
        with contextlib.suppress(sqlite3.Error):
            upkeep.truncate_log(connection)
        return True

    def _is_worth_a_retry(self, failure: Exception) -> bool:
        return not isinstance(failure, sqlite3.Error) or isinstance(self._faults.translate(failure), NoSpace)


def _apply(command: Command, transaction: WriteTransaction) -> Any:
    try:
        return command.apply(transaction)
    except StorageError as exc:
        return CommandFailure(exc)


def _begin(connection: Connection) -> None:
    if connection.in_transaction:  # a rollback has failed, for the same reason perhaps as the group before it
        connection.execute("ROLLBACK")
    connection.execute("BEGIN IMMEDIATE")


def _roll_back(connection: Connection) -> None:
    """Most failures have ended the transaction already."""
    if connection.in_transaction:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
