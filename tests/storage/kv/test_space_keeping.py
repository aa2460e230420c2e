"""Space of the embedded engines: history that is compacted before its time, and the alarm of a quota."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.errors import Compacted, NoSpace
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.storage.store_limits import StoreLimits
from tests.storage.kv.sqlite_steps import settle, size_of
from tests.storage.kv.steps import PATIENCE, create, read, remove, update

VALUE = os.urandom(100_000)
MEGABYTE = 1 << 20
Embedded = MemoryKV | SqliteKV


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def limits() -> StoreLimits:
    return StoreLimits(quota_bytes=8 * MEGABYTE, history_bytes=2 * MEGABYTE)


@pytest.fixture(params=["memory", "sqlite"])
async def kv(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock, limits: StoreLimits
) -> AsyncIterator[Embedded]:
    engine: Embedded
    if request.param == "memory":
        engine = MemoryKV(clock=clock, limits=limits)
    else:
        engine = await SqliteKV.open(tmp_path, clock=clock, limits=limits)
    yield engine
    await engine.close()


async def wait_until(kv: Embedded, clock: ManualClock, condition: Callable[[], bool]) -> None:
    """Let time pass for the engine until the condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            clock.advance(1.0)
            await kv.health()
            await asyncio.sleep(0)


async def fill(kv: Embedded) -> int:
    """Create keys until the quota refuses one. Returns how many there are."""
    number = 0
    while True:
        try:
            await create(kv, b"/full/%d" % number, VALUE)
        except NoSpace:
            return number
        number += 1


async def test_history_beyond_its_bytes_is_compacted_and_the_newest_half_stays(
    kv: Embedded, clock: ManualClock
) -> None:
    first = await create(kv, b"/a", VALUE)
    record = first
    for _ in range(60):
        record = await update(kv, record, VALUE)
    newest = record

    await wait_until(kv, clock, lambda: kv.statistics()["past_bytes"] <= 2 * MEGABYTE)

    with pytest.raises(Compacted):
        await kv.get(b"/a", revision=first.mod_revision)
    assert await read(kv, b"/a", revision=newest.mod_revision - 2) is not None
    assert kv.statistics()["early_compactions"] >= 1


@pytest.mark.parametrize("limits", [StoreLimits(quota_bytes=64 * MEGABYTE)])
async def test_without_a_bound_history_stays(kv: Embedded) -> None:
    first = record = await create(kv, b"/a", VALUE)
    for _ in range(60):
        record = await update(kv, record, VALUE)

    assert await read(kv, b"/a", revision=first.mod_revision) == first


async def test_a_full_store_refuses_creations_and_serves_reads_marks_and_deletions(
    kv: Embedded, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    count = await fill(kv)
    await asyncio.sleep(0)
    health = await kv.health()
    record = await read(kv, b"/full/0")
    assert record is not None

    marked = await update(kv, record, VALUE + b"deletionTimestamp")
    await remove(kv, marked)
    with pytest.raises(NoSpace, match=r"^etcdserver: mvcc: database space exceeded$"):
        await create(kv, b"/other", b"small")

    assert 60 <= count <= 84
    assert health.healthy
    assert "NOSPACE of the embedded store" in health.reason
    assert kv.statistics()["alarm"] == 1
    alarms = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert len(alarms) == 1
    assert "--store-quota-bytes allows 8 MiB" in alarms[0].getMessage()


async def test_deletions_end_the_alarm_without_an_administrator(
    kv: Embedded, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    count = await fill(kv)
    for number in range(count // 2):
        record = await read(kv, b"/full/%d" % number)
        assert record is not None
        await remove(kv, record)

    await wait_until(kv, clock, lambda: not kv.statistics()["alarm"])

    await create(kv, b"/new", VALUE)
    assert (await kv.health()).reason == ""
    await wait_until(kv, clock, lambda: "has room again" in caplog.text)


async def test_updates_of_one_key_never_fill_the_store(kv: Embedded, clock: ManualClock) -> None:
    """Only history grows, and it is compacted before the quota is reached."""
    record = await create(kv, b"/a", VALUE)
    for _ in range(200):
        record = await update(kv, record, VALUE)
        clock.advance(1.0)
        await kv.health()
        await asyncio.sleep(0)

    await wait_until(kv, clock, lambda: kv.statistics()["used_bytes"] <= 4 * MEGABYTE)

    assert not kv.statistics()["alarm"]


async def test_a_store_that_is_full_already_opens_and_can_be_mended(tmp_path: Path, clock: ManualClock) -> None:
    kv = await SqliteKV.open(tmp_path)
    for number in range(80):
        await create(kv, b"/full/%d" % number, VALUE)
    await kv.close()
    limits = StoreLimits(quota_bytes=6 * MEGABYTE, history_bytes=MEGABYTE)

    kv = await SqliteKV.open(tmp_path, clock=clock, limits=limits)
    with pytest.raises(NoSpace):
        await create(kv, b"/new", b"")
    for number in range(60):
        record = await read(kv, b"/full/%d" % number)
        assert record is not None
        await remove(kv, record)

    await wait_until(kv, clock, lambda: not kv.statistics()["alarm"])
    await create(kv, b"/new", b"")
    await settle(kv)
    await kv.close()
    assert size_of(tmp_path) < 4 * MEGABYTE
