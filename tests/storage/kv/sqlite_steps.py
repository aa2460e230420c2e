"""Steps that tests of the embedded engine share: waiting for background work, and access below the contract."""

import asyncio
import stat
from collections.abc import Callable
from pathlib import Path

from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.storage.kv.sqlite.schema import Connection
from aio_apiserver.storage.kv.sqlite.workers import Job, T
from tests.storage.kv.steps import PATIENCE

DATABASE = "store.db"
LOG = "store.db-wal"


def size_of(directory: Path, name: str = DATABASE) -> int:
    return (directory / name).stat().st_size


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names_in(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


async def wait_until(kv: SqliteKV, condition: Callable[[], bool]) -> None:
    """Let the engine work until the condition holds. Each check costs a round through the writer."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await kv.health()


async def settle(kv: SqliteKV) -> None:
    """Wait until compaction has removed all compacted rows."""
    assert kv._compactor._task is not None
    await asyncio.wait([kv._compactor._task])


async def on_writer(kv: SqliteKV, job: Job[T]) -> T:
    """Run a job on the writer's connection."""
    return await kv._writer.run_chore(job)


async def count_rows(kv: SqliteKV, table: str) -> int:
    """How many rows a table has."""

    def count(connection: Connection) -> int:
        (rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - a name from a test
        return int(rows)

    return await on_writer(kv, count)
