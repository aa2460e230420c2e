"""Shrinking: compacts the store of a stopped server to its present revision, and gives all free space back.

It holds the lock of the directory. Must hold: a kill at any moment leaves a whole store.
"""

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from aio_apiserver.storage.errors import Compacted
from aio_apiserver.storage.kv.quota import Quota
from aio_apiserver.storage.kv.sqlite import schema, upkeep
from aio_apiserver.storage.kv.sqlite.commands import Command, Compact, Sweep
from aio_apiserver.storage.kv.sqlite.committer import CommandFailure, Committer
from aio_apiserver.storage.kv.sqlite.data_dir import DataDir
from aio_apiserver.storage.kv.sqlite.disk_reserve import DiskReserve
from aio_apiserver.storage.kv.sqlite.error_codes import ErrorTranslator
from aio_apiserver.storage.kv.sqlite.schema import Connection


class Shrunk(Struct, frozen=True):
    """The revision, and the bytes of the store before and after."""

    revision: int
    before: int
    after: int


def shrink(directory: Path) -> Shrunk:
    """Shrink a store. It blocks the calling thread. Raises DataDirLocked, Corrupt, NoSpace, Unavailable."""
    data_dir = DataDir(directory)
    faults = ErrorTranslator(data_dir.database)
    try:
        data_dir.acquire()
        before = data_dir.size
        DiskReserve(directory, 0).release()  # the next server makes another one
        connection = schema.open_for_writing(data_dir.database)
        try:
            revision = _shrink(connection, faults)
        finally:
            connection.close()
        return Shrunk(revision, before, data_dir.size)
    except (sqlite3.Error, OSError) as exc:
        raise faults.translate(exc) from exc
    finally:
        data_dir.release()


def _shrink(connection: Connection, faults: ErrorTranslator) -> int:
    state = schema.read_state(connection)
    run = _runner(connection, Committer(state, faults, Quota(0), before_commit=_nothing, release_reserve=_no_reserve))
    with contextlib.suppress(Compacted):  # rows may be left from an interrupted sweep all the same
        run(Compact(state.revision))
    while not run(Sweep()):
        pass
    upkeep.vacuum_all(connection)
    upkeep.truncate_log(connection)
    return state.revision


def _runner(connection: Connection, committer: Committer) -> Callable[[Command], object]:
    def run(command: Command) -> object:
        (result,) = committer.commit(connection, (command,)).results
        if isinstance(result, CommandFailure):
            raise result.cause
        return result

    return run


def _no_reserve() -> bool:
    """Whether space was freed: the caller has done that before."""
    return False


def _nothing() -> None:
    """Nothing waits for this thread."""
