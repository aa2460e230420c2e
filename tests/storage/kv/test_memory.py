"""The memory engine: the kv contract, and that it frees compacted data."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.errors import Compacted
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.kv.memory import MemoryKV
from tests.storage.kv.contract import Elapse, EmptyStoreContract, ExactCompactionContract, KVContract
from tests.storage.kv.steps import create, next_batch, take, update


class TestMemoryKV(EmptyStoreContract, ExactCompactionContract, KVContract):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    async def kv(self, clock: ManualClock) -> AsyncIterator[KV]:
        engine = MemoryKV(clock=clock)
        yield engine
        await engine.close()

    @pytest.fixture
    def elapse(self, clock: ManualClock) -> Elapse:
        async def elapse(seconds: float) -> None:
            clock.advance(seconds)

        return elapse


@pytest.fixture
async def memory() -> AsyncIterator[MemoryKV]:
    engine = MemoryKV()
    yield engine
    await engine.close()


async def test_a_watch_that_was_left_is_not_kept(memory: MemoryKV) -> None:
    async with memory.watch(b"a", b"b", revision=1), memory.watch(b"a", b"b", revision=5):
        watched = memory.statistics()["watches"]

    assert (watched, memory.statistics()["watches"]) == (2, 0)


async def test_an_unread_watch_holds_no_more_than_the_history(memory: MemoryKV) -> None:
    async with memory.watch(b"a", b"b", revision=2):
        record = await create(memory, b"a")
        for _ in range(100):
            record = await update(memory, record)
            await memory.request_progress()
            await memory.compact(record.mod_revision)

        sizes = memory.statistics()

    assert (sizes["queued_batches"], sizes["past_records"], sizes["revisions_with_events"]) == (0, 0, 1)


async def test_a_watch_behind_a_compaction_fails_for_good(memory: MemoryKV) -> None:
    async with memory.watch(b"a", b"b", revision=2) as batches:
        first = await create(memory, b"a")
        second = await update(memory, first)
        await memory.compact(second.mod_revision)
        await update(memory, second)

        for _ in range(2):
            with pytest.raises(Compacted):
                await next_batch(batches)


async def test_a_compaction_overtakes_a_replay_between_its_parts(memory: MemoryKV) -> None:
    record = await create(memory, b"a")
    for _ in range(2_500):
        record = await update(memory, record)
    async with memory.watch(b"a", b"b", revision=2) as batches:
        replayed = await next_batch(batches)
        waiting = asyncio.create_task(next_batch(batches))
        await asyncio.sleep(0)

        await memory.compact(replayed.revision + 2)

        with pytest.raises(Compacted):
            await waiting


async def test_ended_leases_are_not_kept(memory: MemoryKV) -> None:
    for _ in range(10):
        await memory.revoke_lease(await memory.grant_lease(1000))

    assert memory.statistics()["leases"] == 0


async def test_a_long_replay_lets_others_run(memory: MemoryKV) -> None:
    for number in range(5_000):
        await create(memory, b"%d" % number)
    last = await create(memory, b"a")
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_turns())
    async with memory.watch(b"a", b"b", revision=2) as batches:
        events = await take(batches, 1)
    counting.cancel()
    await asyncio.wait([counting])

    assert [event.record for event in events] == [last]
    assert turns >= 5


async def test_a_long_compaction_lets_others_run_and_reads_are_right_meanwhile(memory: MemoryKV) -> None:
    record = await create(memory, b"a")
    for _ in range(5_000):
        record = await update(memory, record)

    compaction = asyncio.create_task(memory.compact(record.mod_revision - 1))
    await asyncio.sleep(0)
    result = await memory.get(b"a", revision=record.mod_revision - 1)
    is_unfinished = not compaction.done()
    await compaction

    assert is_unfinished
    assert result.record is not None
    assert result.record.version == record.version - 1
