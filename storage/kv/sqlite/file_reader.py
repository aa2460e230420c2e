"""file_reader: FileReader, reads the store in a directory beside the server that uses it.

It takes no lock and writes nothing to the database. Each read is a short transaction, so that the server's checkpoints
do not wait for it. A store at rest can be read on a full disk, too. Must hold: it refuses the same files as the server:
those that are no store, or of a newer release.
"""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from aio_apiserver.storage.errors import NoSpace
from aio_apiserver.storage.kv.interface import RangeResult
from aio_apiserver.storage.kv.sqlite import reads, schema, upkeep, verification
from aio_apiserver.storage.kv.sqlite.data_dir import DataDir
from aio_apiserver.storage.kv.sqlite.error_codes import ErrorTranslator
from aio_apiserver.storage.kv.sqlite.verification import StoreFault
from aio_apiserver.storage.kv.sqlite.workers import Job

T = TypeVar("T")


class FileReader:
    """The records of a data directory. A read blocks the calling thread; it is for commands, not for servers."""

    def __init__(self, directory: Path) -> None:
        """Raises Unavailable when there is no store, Corrupt for a file of another kind."""
        data_dir = DataDir(directory)
        data_dir.check()
        self._faults = ErrorTranslator(data_dir.database)
        try:
            self._connection = _opened(data_dir.database)
        except sqlite3.Error as exc:
            failure = self._faults.translate(exc)
            if not isinstance(failure, NoSpace) or not data_dir.is_at_rest:
                raise failure from exc
            self._connection = _opened(data_dir.database, is_unchanging=True)

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
        wanted = reads.Range(
            start=start, end=end, limit=limit, revision=revision, keys_only=keys_only, count_only=count_only
        )
        return self._run(lambda connection: reads.read_range(connection, wanted))

    async def lease_seconds(self, lease: int) -> int:
        found = {one.id: one.expires for one in self._run(schema.read_leases)}
        return max(0, int(found.get(lease, 0.0) - time.time()))

    def faults(self) -> Sequence[StoreFault]:
        """What is wrong with the file. Raises Corrupt when it cannot be read at all."""
        return self._run(lambda connection: list(verification.faults(connection)))

    def is_compacting(self) -> bool:
        """Whether compacted rows or surplus pages are left, which the server removes in the background."""
        return self._run(
            lambda connection: schema.has_rows_to_sweep(connection) or upkeep.surplus_pages(connection) > 0
        )

    async def store_id(self) -> bytes:
        return self._run(schema.read_store_id)

    async def close(self) -> None:
        self._connection.close()

    def _run(self, job: Job[T]) -> T:
        try:
            return job(self._connection)
        except sqlite3.Error as exc:
            raise self._faults.translate(exc) from exc


def _opened(path: Path, *, is_unchanging: bool = False) -> sqlite3.Connection:
    """Raises sqlite3.Error, Corrupt."""
    connection = schema.open_for_reading(path, is_unchanging=is_unchanging)
    schema.check_identity(connection, path)
    return connection
