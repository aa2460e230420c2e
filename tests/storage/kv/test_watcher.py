"""Watches of the engines in this process: the hand-off from history to feed, and slow readers."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aio_apiserver.storage.errors import Compacted
from aio_apiserver.storage.kv.interface import KV, Event, EventBatch, EventType
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.storage.record import Record
from tests.storage.kv.steps import create, next_batch, next_events, read, remove, take, take_until, update

LARGE = bytes(1_000_000)
"""A few of these are more than the queue of a slow reader holds."""


@pytest.fixture(params=["memory", "sqlite"])
async def kv(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MemoryKV | SqliteKV]:
    engine = MemoryKV() if request.param == "memory" else await SqliteKV.open(tmp_path)
    yield engine
    await engine.close()


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteKV]:
    engine = await SqliteKV.open(tmp_path)
    yield engine
    await engine.close()


async def write_versions(kv: KV, key: bytes, count: int, value: bytes) -> list[Record]:
    records = [await create(kv, key, value)]
    for _ in range(count - 1):
        records.append(await update(kv, records[-1], value))
    return records


class TestHandOff:
    async def test_a_list_and_the_watch_from_it_make_up_the_present(self, kv: KV) -> None:
        keys = [b"/a/%02d" % number for number in range(30)]
        is_over = asyncio.Event()

        async def write(seed: int) -> None:
            rng = random.Random(seed)
            own = keys[seed::3]
            while not is_over.is_set():
                await asyncio.sleep(0)
                key = rng.choice(own)
                current = await read(kv, key)
                if current is None:
                    await create(kv, key, b"%d" % rng.randrange(1000))
                elif rng.random() < 0.3:
                    await remove(kv, current)
                else:
                    await update(kv, current, b"%d" % rng.randrange(1000))

        async def hand_off(revisions: int) -> None:
            listed = await kv.range(b"/a/", b"/a0")
            state = {record.key: record for record in listed.records}
            revision = listed.revision
            async with kv.watch(b"/a/", b"/a0", revision=revision + 1) as batches:
                while revision < listed.revision + revisions:
                    batch = await next_events(batches)
                    apply(state, batch)
                    revision = batch.revision
            then = await kv.range(b"/a/", b"/a0", revision=revision)
            assert [state[key] for key in sorted(state)] == list(then.records)

        async with asyncio.TaskGroup() as writers:
            for seed in range(3):
                writers.create_task(write(seed))
            for turn in range(20):
                await asyncio.gather(*[hand_off(1 + turn * number) for number in range(10)])
            is_over.set()

    async def test_a_watch_from_the_first_revision_of_many_has_each_once(self, kv: KV) -> None:
        written = await asyncio.gather(*[write_versions(kv, b"/%d" % number, 250, b"") for number in range(10)])

        async with kv.watch(b"/", b"0", revision=1) as batches:
            late = asyncio.create_task(write_versions(kv, b"/late", 100, b""))
            events = await take(batches, 2600)

        records = [*await late, *[record for records in written for record in records]]
        assert [event.record for event in events] == sorted(records, key=lambda record: record.mod_revision)


class TestSlowReader:
    async def test_a_slow_reader_gets_the_rest_from_the_history(self, kv: KV) -> None:
        async with kv.watch(b"/", b"0", revision=2) as batches:
            first = await create(kv, b"/a", b"first")
            assert await take(batches, 1) == [Event(EventType.PUT, first, None)]
            records = [first]
            for number in range(30):
                records.append(await update(kv, records[-1], b"%02d" % number + LARGE))

            events = await take(batches, 30)
            records.append(await update(kv, records[-1], b"live again"))
            events += await take(batches, 1)

        assert [event.record for event in events] == records[1:]
        assert [event.previous for event in events] == records[:-1]

    async def test_nothing_is_kept_for_him_but_his_place(self, kv: MemoryKV | SqliteKV) -> None:
        async with kv.watch(b"/", b"0", revision=2):
            await write_versions(kv, b"/a", 30, LARGE)

            statistics = kv.statistics()

        assert (statistics["watches"], statistics["queued_batches"]) == (1, 0)

    async def test_he_learns_that_compaction_has_overtaken_him(self, kv: KV) -> None:
        async with kv.watch(b"/", b"0", revision=2) as batches:
            records = await write_versions(kv, b"/a", 30, LARGE)
            await kv.compact(records[-1].mod_revision)

            with pytest.raises(Compacted):
                await next_batch(batches)

    async def test_a_promise_of_progress_comes_behind_what_he_had_lost(self, kv: KV) -> None:
        async with kv.watch(b"/", b"0", revision=2) as batches:
            records = await write_versions(kv, b"/a", 15, LARGE)
            await kv.request_progress()
            records += await write_versions(kv, b"/b", 15, LARGE)

            events = await take_until(batches, records[-1].mod_revision)
            progress = await next_batch(batches)

        assert [event.record for event in events] == records
        assert (progress.is_progress, progress.revision) == (True, records[-1].mod_revision)

    async def test_a_fast_reader_beside_a_slow_one_loses_nothing(self, kv: KV) -> None:
        async with kv.watch(b"/", b"0", revision=2), kv.watch(b"/", b"0", revision=2) as batches:
            record = await create(kv, b"/a", LARGE)
            for _ in range(30):
                assert [event.record for event in await take(batches, 1)] == [record]
                record = await update(kv, record, LARGE)

        assert record.version == 31


class TestIteration:
    async def test_a_cancelled_wait_goes_on_where_it_was(self, kv: KV) -> None:
        async with kv.watch(b"/", b"0", revision=2) as batches:
            waiting = asyncio.ensure_future(anext(batches))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            record = await create(kv, b"/a")

            assert [event.record for event in await take(batches, 1)] == [record]

    async def test_a_cancelled_replay_goes_on_where_it_was(self, kv: KV) -> None:
        records = [await create(kv, b"/%d" % number) for number in range(10)]
        async with kv.watch(b"/", b"0", revision=2) as batches:
            waiting = asyncio.ensure_future(anext(batches))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])

            events = await take(batches, 10)

        assert waiting.cancelled()
        assert [event.record for event in events] == records

    async def test_leaving_ends_a_replay(self, kv: KV) -> None:
        await create(kv, b"/a")
        async with kv.watch(b"/", b"0", revision=2) as batches:
            waiting = asyncio.create_task(_collect(batches))
            await asyncio.sleep(0)

        assert await waiting == []

    async def test_leaving_wakes_a_waiting_reader(self, kv: KV) -> None:
        async with kv.watch(b"/", b"0", revision=2) as batches:
            waiting = asyncio.create_task(_collect(batches))
            await asyncio.sleep(0)

        assert await waiting == []


class TestGroup:
    async def test_a_group_of_writes_comes_as_one_batch(self, sqlite: SqliteKV) -> None:
        async with sqlite.watch(b"/", b"0", revision=2) as batches:
            await asyncio.gather(*[create(sqlite, b"/%d" % number) for number in range(50)])

            batch = await next_batch(batches)

        assert [event.record.mod_revision for event in batch.events] == list(range(2, 52))

    async def test_a_watch_that_starts_within_a_group_has_the_rest_of_it(self, sqlite: SqliteKV) -> None:
        async with sqlite.watch(b"/", b"0", revision=30) as batches:
            await asyncio.gather(*[create(sqlite, b"/%d" % number) for number in range(50)])

            batch = await next_batch(batches)

        assert [event.record.mod_revision for event in batch.events] == list(range(30, 52))


def apply(state: dict[bytes, Record], batch: EventBatch) -> None:
    for event in batch.events:
        assert event.previous == state.pop(event.record.key, None)
        if event.type is EventType.PUT:
            state[event.record.key] = event.record


async def _collect(batches: AsyncIterator[EventBatch]) -> list[EventBatch]:
    return [batch async for batch in batches]
