"""The reserve of the disk: who gets it, and when it comes back."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.errors import NoSpace
from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.storage.kv.sqlite.disk_reserve import DiskReserve
from aio_apiserver.storage.store_limits import RESERVE_BYTES, StoreLimits
from tests.storage.kv import small_disk
from tests.storage.kv.steps import PATIENCE, create, keys_of, read, remove, update

LIMITS = StoreLimits(history_bytes=64 << 20, reserve_bytes=RESERVE_BYTES)
VALUE = os.urandom(200_000)
MEGABYTES = 128
needs_a_disk = pytest.mark.skipif(not small_disk.may_mount(), reason="this user may not mount a small disk")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk.mounted(tmp_path, megabytes=MEGABYTES):
        yield tmp_path


def size_of_reserve(directory: Path) -> int:
    return (directory / "reserve").stat().st_blocks * 512


@needs_a_disk
async def test_deletions_and_marks_go_on_and_creations_do_not(disk: Path) -> None:
    clock = ManualClock()
    kv = await SqliteKV.open(disk / "data", clock=clock, limits=LIMITS)
    records = [await create(kv, b"/%d" % number, VALUE) for number in range(40)]
    held = size_of_reserve(disk / "data")
    small_disk.fill(disk / "ballast", room=0)

    marked = await update(kv, records[0], VALUE + b"mark")
    for record in (marked, *records[1:30]):
        await remove(kv, record)
    with pytest.raises(NoSpace, match=str(disk)):
        await create(kv, b"/new", b"small")

    assert held == (MEGABYTES << 20) // 8
    assert not (disk / "data" / "reserve").exists()
    assert len(await keys_of(kv, b"/")) == 10
    assert kv.statistics()["alarm"] == 1

    (disk / "ballast").unlink()
    async with asyncio.timeout(PATIENCE):
        while kv.statistics()["alarm"]:
            clock.advance(1.0)
            await kv.health()
    await create(kv, b"/new", b"small")
    assert size_of_reserve(disk / "data") == held
    await kv.close()


@needs_a_disk
async def test_a_store_opens_on_a_full_disk(disk: Path) -> None:
    kv = await SqliteKV.open(disk / "data", limits=LIMITS)
    record = await create(kv, b"/a", VALUE)
    await kv.close()
    small_disk.fill(disk / "ballast", room=0)

    kv = await SqliteKV.open(disk / "data", limits=LIMITS)

    assert await read(kv, b"/a") == record
    await remove(kv, record)
    await kv.close()
    assert 0 < size_of_reserve(disk / "data") <= 1 << 20


@needs_a_disk
def test_a_disk_that_is_nearly_full_has_no_reserve(disk: Path) -> None:
    small_disk.fill(disk / "ballast", room=20 << 20)
    reserve = DiskReserve(disk, RESERVE_BYTES)

    assert not reserve.fill()
    assert not reserve.release()


def test_without_a_size_there_is_nothing_to_fill(tmp_path: Path) -> None:
    assert DiskReserve(tmp_path, 0).fill()
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_place_of_the_reserve_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "reserve").symlink_to(tmp_path / "target")

    DiskReserve(tmp_path, 4096).fill()

    assert not (tmp_path / "target").exists()
