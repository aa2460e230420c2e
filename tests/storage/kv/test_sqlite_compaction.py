"""Disk space of the embedded engine: compaction frees it, and the log does not grow without limit."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.storage.kv.sqlite.upkeep import LOG_BYTES
from aio_apiserver.storage.record import Record
from tests.storage.kv.sqlite_steps import DATABASE, LOG, count_rows, settle, size_of
from tests.storage.kv.steps import create, keys_of, read, remove, update

MEGABYTE = 1 << 20
VALUE = os.urandom(100_000)
LARGE = os.urandom(MEGABYTE)


@pytest.fixture
async def kv(tmp_path: Path) -> AsyncIterator[SqliteKV]:
    engine = await SqliteKV.open(tmp_path)
    yield engine
    await engine.close()


async def write_versions(kv: SqliteKV, key: bytes, count: int) -> Record:
    record = await create(kv, key, VALUE)
    for _ in range(count - 1):
        record = await update(kv, record, VALUE)
    return record


async def test_compaction_gives_room_back_to_the_file_system(kv: SqliteKV, tmp_path: Path) -> None:
    kept = await create(kv, b"/kept", VALUE)
    last = await write_versions(kv, b"/a", 120)
    await kv.compact(last.mod_revision)

    await settle(kv)

    assert size_of(tmp_path) + size_of(tmp_path, LOG) < 2 * MEGABYTE
    found = await kv.range(b"/", b"0")
    assert list(found.records) == [last, kept]


async def test_what_was_superseded_or_deleted_leaves_no_row(kv: SqliteKV) -> None:
    for number in range(600):
        deletion = await remove(kv, await create(kv, b"/gone/%d" % number))
    kept = await create(kv, b"/kept")
    last = await update(kv, kept)
    assert deletion < last.mod_revision

    await kv.compact(last.mod_revision)

    await settle(kv)
    assert await count_rows(kv, "heads") == 1
    assert await count_rows(kv, "records") == 2
    await kv.compact((await create(kv, b"/later")).mod_revision)
    await settle(kv)
    assert await count_rows(kv, "records") == 2
    assert await keys_of(kv, b"/") == [b"/kept", b"/later"]


async def test_writes_and_reads_go_on_meanwhile(kv: SqliteKV) -> None:
    last = await write_versions(kv, b"/a", 120)
    await kv.compact(last.mod_revision)
    written: list[Record] = []

    while await count_rows(kv, "records") > len(written) + 2:
        written.append(await create(kv, b"/b/%06d" % len(written)))
        assert await read(kv, b"/a") == last

    assert written
    assert await keys_of(kv, b"/b/") == [record.key for record in written]


async def test_the_log_stays_short_while_reads_overlap(kv: SqliteKV, tmp_path: Path) -> None:
    for number in range(10):
        await create(kv, b"/read/%d" % number, LARGE)
    is_over = asyncio.Event()

    async def read_without_end() -> None:
        while not is_over.is_set():
            await kv.range(b"/read/", b"/read0")

    async with asyncio.TaskGroup() as readers:
        for _ in range(4):
            readers.create_task(read_without_end())
        for number in range(100):
            await create(kv, b"/written/%d" % number, LARGE)
        is_over.set()

    await kv.health()
    assert size_of(tmp_path, LOG) < 4 * LOG_BYTES


async def test_the_log_shrinks_after_a_long_read_of_another_process(kv: SqliteKV, tmp_path: Path) -> None:
    await create(kv, b"/a", LARGE)
    with closing(sqlite3.connect(tmp_path / DATABASE, isolation_level=None)) as stranger:
        stranger.execute("BEGIN")
        stranger.execute("SELECT count(*) FROM heads").fetchone()
        for number in range(40):
            await create(kv, b"/b/%d" % number, LARGE)
        grown = size_of(tmp_path, LOG)
        stranger.execute("ROLLBACK")

    for number in range(40):
        await create(kv, b"/c/%d" % number, LARGE)

    assert grown > 2 * LOG_BYTES
    assert size_of(tmp_path, LOG) < grown
