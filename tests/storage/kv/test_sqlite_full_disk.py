"""The embedded engine on a full disk: writes fail with the reason, reads go on, and freed space is all that it needs.

The disk is a small file system where tests may mount one, and everywhere a store whose file may not grow. Both make
SQLite itself run out of space.
"""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.errors import NoSpace, StorageError, Unavailable
from aio_apiserver.storage.kv.interface import WriteResult
from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.storage.kv.sqlite.schema import Connection
from tests.storage.kv import small_disk
from tests.storage.kv.sqlite_steps import count_rows, on_writer, settle, wait_until
from tests.storage.kv.steps import create, keys_of, next_events, read, remove, take, update

LARGE = os.urandom(200_000)
SOME_ROOM = 65_536


class Disk(Protocol):
    """A disk with a store."""

    directory: Path

    async def fill(self, kv: SqliteKV) -> None:
        """Leave no space for a value of more than some kilobytes."""

    async def empty(self, kv: SqliteKV) -> None:
        """Free the space."""


class PageLimit:
    """A limit of the file to the pages in use."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    async def fill(self, kv: SqliteKV) -> None:
        await on_writer(kv, _forbid_growth)

    async def empty(self, kv: SqliteKV) -> None:
        await on_writer(kv, _allow_growth)


class SmallFileSystem:
    """A file system of 8 MiB in memory."""

    def __init__(self, mount_point: Path) -> None:
        self.directory = mount_point / "data"
        self._ballast = mount_point / "ballast"

    async def fill(self, kv: SqliteKV) -> None:
        small_disk.fill(self._ballast, room=SOME_ROOM)

    async def empty(self, kv: SqliteKV) -> None:
        os.truncate(self._ballast, 0)


@pytest.fixture(params=["page limit", *(["file system"] if small_disk.may_mount() else [])])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    if request.param == "page limit":
        yield PageLimit(tmp_path)
        return
    with small_disk.mounted(tmp_path, megabytes=8):
        yield SmallFileSystem(tmp_path)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def kv(disk: Disk, clock: ManualClock) -> AsyncIterator[SqliteKV]:
    engine = await SqliteKV.open(disk.directory, clock=clock)
    await settle(engine)
    yield engine
    await engine.close()


async def put(kv: SqliteKV, key: bytes, value: bytes) -> WriteResult | StorageError:
    try:
        return await kv.put(key, value, expected_mod_revision=0)
    except StorageError as exc:
        return exc


async def test_writes_say_that_there_is_no_room_and_have_no_effect(kv: SqliteKV, disk: Disk) -> None:
    record = await create(kv, b"/a", b"one")
    await disk.fill(kv)

    with pytest.raises(NoSpace, match=str(disk.directory)):
        await create(kv, b"/b", LARGE)
    with pytest.raises(NoSpace):
        await update(kv, record, LARGE)

    assert await read(kv, b"/a") == record
    assert await kv.current_revision() == record.mod_revision


async def test_reads_and_watches_go_on(kv: SqliteKV, disk: Disk) -> None:
    first = await create(kv, b"/a", b"one")
    second = await update(kv, first, LARGE)
    await disk.fill(kv)

    async with kv.watch(b"/", b"0", revision=first.mod_revision) as batches:
        with pytest.raises(NoSpace):
            await create(kv, b"/b", LARGE)

        assert [event.record for event in await take(batches, 2)] == [first, second]
    assert await read(kv, b"/a", revision=first.mod_revision) == first
    assert await keys_of(kv, b"/") == [b"/a"]


async def test_writes_work_again_as_soon_as_there_is_room(kv: SqliteKV, disk: Disk) -> None:
    last = await create(kv, b"/a", b"one")
    async with kv.watch(b"/", b"0", revision=last.mod_revision + 1) as batches:
        await disk.fill(kv)
        for _ in range(3):
            with pytest.raises(NoSpace):
                await create(kv, b"/b", LARGE)
        await disk.empty(kv)

        record = await create(kv, b"/b", LARGE)

        assert record.mod_revision == last.mod_revision + 1
        assert [event.record for event in await take(batches, 1)] == [record]


async def test_nothing_acknowledged_is_lost(kv: SqliteKV, disk: Disk) -> None:
    results = await asyncio.gather(*[put(kv, b"/before/%02d" % number, LARGE) for number in range(3)])
    await disk.fill(kv)
    results += await asyncio.gather(*[put(kv, b"/full/%02d" % number, LARGE) for number in range(20)])
    await disk.empty(kv)
    results += await asyncio.gather(*[put(kv, b"/after/%02d" % number, LARGE) for number in range(3)])
    revision = await kv.current_revision()
    await kv.close()

    again = await SqliteKV.open(disk.directory)

    acknowledged = [result.revision for result in results if isinstance(result, WriteResult)]
    found = await again.range(b"/", b"0")
    assert sorted(record.mod_revision for record in found.records) == acknowledged
    assert len(acknowledged) == 6
    assert (found.revision, len({type(result) for result in results})) == (revision, 2)
    await again.close()


async def test_a_small_write_succeeds_beside_one_that_is_too_large(kv: SqliteKV, disk: Disk) -> None:
    await remove(kv, await create(kv, b"/a", bytes(1000)))
    await disk.fill(kv)

    large, small = await asyncio.gather(put(kv, b"/large", LARGE), put(kv, b"/small", b"one"))

    assert isinstance(large, NoSpace)
    assert isinstance(small, WriteResult)
    assert await keys_of(kv, b"/") == [b"/small"]


async def test_health_looks_by_itself_whether_there_is_room_again(kv: SqliteKV, disk: Disk) -> None:
    await disk.fill(kv)
    with pytest.raises(NoSpace):
        await create(kv, b"/a", LARGE)

    await disk.empty(kv)

    assert (await kv.health()).healthy


@pytest.mark.parametrize("disk", ["file system"] * small_disk.may_mount(), indirect=True)
async def test_health_says_that_the_disk_is_full_while_only_the_smallest_write_succeeds(
    kv: SqliteKV, disk: Disk
) -> None:
    await disk.fill(kv)
    numbers = itertools.count()
    while isinstance(await put(kv, b"/%d" % next(numbers), bytes(3000)), WriteResult):
        pass

    seen = [await kv.health() for _ in range(3)]
    await disk.empty(kv)

    assert [health.healthy for health in seen] == [False] * 3
    assert f"no room left for {disk.directory}" in seen[0].reason
    assert (await kv.health()).healthy


async def test_a_lease_that_could_not_be_ended_ends_later(kv: SqliteKV, disk: Disk, clock: ManualClock) -> None:
    lease = await kv.grant_lease(10)
    records = [await create(kv, b"/%04d" % number + bytes(1000), lease=lease) for number in range(100)]
    await disk.fill(kv)
    clock.advance(10)
    await wait_until(kv, lambda: kv.statistics().get("failures", 0) > 0)
    left = await keys_of(kv, b"/")

    await disk.empty(kv)
    async with kv.watch(b"/", b"0", revision=records[-1].mod_revision + 1) as batches:
        clock.advance(5)
        gone = (await next_events(batches)).events

    assert len(left) == len(gone) == 100


async def test_a_compaction_works_where_there_is_little_room(kv: SqliteKV, disk: Disk) -> None:
    record = await create(kv, b"/a", LARGE)
    for _ in range(4):
        record = await update(kv, record, LARGE)
    await disk.fill(kv)

    await kv.compact(record.mod_revision)

    while await count_rows(kv, "records") > 2:
        assert (await kv.health()).healthy
    assert await read(kv, b"/a") == record


@pytest.mark.skipif(not small_disk.may_mount(), reason="needs the right to mount a file system")
async def test_a_small_or_read_only_file_system_is_named(tmp_path: Path) -> None:
    """Little room is a warning of an engine that works. A read-only file system ends the start."""
    with small_disk.mounted(tmp_path, megabytes=8):
        kv = await SqliteKV.open(tmp_path / "data")
        health = await kv.health()
        await kv.close()
        small_disk.make_read_only(tmp_path)

        with pytest.raises(Unavailable, match="Read-only file system"):
            await SqliteKV.open(tmp_path / "data")

    assert health.healthy
    assert "little room left" in health.reason


def _forbid_growth(connection: Connection) -> None:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")


def _allow_growth(connection: Connection) -> None:
    connection.execute("PRAGMA max_page_count = 1000000")
