"""Compactor: one interval behind, in turns with other servers, and continuing after errors."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.errors import Compacted
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.compactor import KEY, HistoryCompactor
from tests.storage.kv import steps


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def kv(clock: ManualClock) -> AsyncIterator[MemoryKV]:
    kv = MemoryKV(clock=clock)
    yield kv
    await kv.close()


async def is_kept(kv: MemoryKV, revision: int) -> bool:
    try:
        await kv.get(KEY, revision=revision)
    except Compacted:
        return False
    return True


async def elapse(clock: ManualClock, seconds: float) -> None:
    """Advance the time, and run the tasks that it wakes."""
    clock.advance(seconds)
    for _ in range(20):
        await asyncio.sleep(0)


async def test_the_first_turn_compacts_nothing(kv: MemoryKV, clock: ManualClock) -> None:
    record = await steps.create(kv, b"a")

    await HistoryCompactor(kv, clock=clock).compact()

    assert await is_kept(kv, record.mod_revision)


async def test_each_turn_compacts_to_where_the_last_one_was(kv: MemoryKV, clock: ManualClock) -> None:
    compactor = HistoryCompactor(kv, clock=clock)
    first = await steps.create(kv, b"a")
    await compactor.compact()
    second = await steps.update(kv, first)
    await compactor.compact()

    assert not await is_kept(kv, first.mod_revision)
    assert await is_kept(kv, second.mod_revision)
    assert compactor.statistics() == {
        "won": 2,
        "lost": 0,
        "failed": 0,
        "compacted_revision": second.mod_revision - 1,
    }


async def test_the_key_tells_other_servers_the_compacted_revision(kv: MemoryKV, clock: ManualClock) -> None:
    compactor = HistoryCompactor(kv, clock=clock)
    for _ in range(3):
        await compactor.compact()

    record = await steps.read(kv, b"compact_rev_key")

    assert record is not None
    assert (record.value, record.version) == (b"%d" % compactor.statistics()["compacted_revision"], 3)


async def test_of_two_servers_one_compacts_in_an_interval(kv: MemoryKV, clock: ManualClock) -> None:
    one, other = HistoryCompactor(kv, clock=clock), HistoryCompactor(kv, clock=clock)
    for _ in range(4):
        await one.compact()
        await other.compact()

    assert (one.statistics()["won"], one.statistics()["lost"]) == (4, 0)
    assert (other.statistics()["won"], other.statistics()["lost"]) == (0, 4)


async def test_another_server_takes_over(kv: MemoryKV, clock: ManualClock) -> None:
    gone, other = HistoryCompactor(kv, clock=clock), HistoryCompactor(kv, clock=clock)
    for compactor in (gone, other, gone, other):
        await compactor.compact()
    record = await steps.create(kv, b"a")

    await other.compact()
    await other.compact()

    assert other.statistics()["won"] == 2
    assert other.statistics()["compacted_revision"] > record.mod_revision


async def test_a_compaction_by_somebody_else_is_no_failure(kv: MemoryKV, clock: ManualClock) -> None:
    compactor = HistoryCompactor(kv, clock=clock)
    await compactor.compact()
    record = await steps.create(kv, b"a")
    await kv.compact(record.mod_revision)

    await compactor.compact()

    assert (compactor.statistics()["failed"], compactor.statistics()["compacted_revision"]) == (0, 0)


async def test_it_runs_every_interval(kv: MemoryKV, clock: ManualClock) -> None:
    compactor = HistoryCompactor(kv, clock=clock, interval=300)
    compactor.start()
    await elapse(clock, 0)
    for _ in range(3):
        await elapse(clock, 300)

    assert compactor.statistics()["won"] == 3
    await compactor.close()


async def test_an_interval_of_zero_never_compacts(kv: MemoryKV, clock: ManualClock) -> None:
    compactor = HistoryCompactor(kv, clock=clock, interval=0)
    compactor.start()
    await elapse(clock, 10_000)

    assert compactor.statistics()["won"] == 0
    await compactor.close()


async def test_it_goes_on_after_a_failure(kv: MemoryKV, clock: ManualClock) -> None:
    compactor = HistoryCompactor(kv, clock=clock, interval=300)
    compactor.start()
    await elapse(clock, 0)
    await kv.close()
    for _ in range(2):
        await elapse(clock, 300)

    assert compactor.statistics()["failed"] == 2
    await compactor.close()
