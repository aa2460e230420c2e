"""Watches of the embedded engine: the hand-off from table to feed under load, and readers who do not keep up."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.errors import Compacted
from storage.kv.interface import KV, Event, EventBatch, EventType, Record
from storage.kv.sqlite import SqliteKV
from storage.kv.sqlite.feed import Feed
from tests.storage.kv.steps import create, next_batch, next_events, read, remove, take, take_until, update

LARGE = bytes(1_000_000)
"""Some of these are more than is kept for a reader who does not read."""


@pytest.fixture
async def kv(tmp_path: Path) -> AsyncIterator[SqliteKV]:
    engine = await SqliteKV.open(tmp_path)
    yield engine
    await engine.close()


async def write_versions(kv: KV, key: bytes, count: int, value: bytes) -> list[Record]:
    records = [await create(kv, key, value)]
    for _ in range(count - 1):
        records.append(await update(kv, records[-1], value))
    return records


class TestHandOff:
    async def test_a_list_and_the_watch_from_it_make_up_the_present(self, kv: SqliteKV) -> None:
        keys = [b"/a/%02d" % number for number in range(30)]
        is_over = asyncio.Event()

        async def write(seed: int) -> None:
            rng = random.Random(seed)
            own = keys[seed::3]
            while not is_over.is_set():
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

    async def test_a_watch_from_the_first_revision_of_many_has_each_once(self, kv: SqliteKV) -> None:
        written = await asyncio.gather(*[write_versions(kv, b"/%d" % number, 250, b"") for number in range(10)])

        async with kv.watch(b"/", b"0", revision=1) as batches:
            late = asyncio.create_task(write_versions(kv, b"/late", 100, b""))
            events = await take(batches, 2600)

        records = [*await late, *[record for records in written for record in records]]
        assert [event.record for event in events] == sorted(records, key=lambda record: record.mod_revision)


class TestSlowReader:
    async def test_a_reader_who_falls_behind_gets_the_rest_from_the_table(self, kv: SqliteKV) -> None:
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

    async def test_nothing_is_kept_for_him_but_his_place(self, kv: SqliteKV) -> None:
        async with kv.watch(b"/", b"0", revision=2):
            await write_versions(kv, b"/a", 30, LARGE)

            (subscription,) = kv._feed._all()

            assert subscription.lost_from is not None
            assert subscription.pop() is None

    async def test_he_learns_that_compaction_has_overtaken_him(self, kv: SqliteKV) -> None:
        async with kv.watch(b"/", b"0", revision=2) as batches:
            records = await write_versions(kv, b"/a", 30, LARGE)
            await kv.compact(records[-1].mod_revision)

            with pytest.raises(Compacted):
                await next_batch(batches)

    async def test_a_promise_of_progress_comes_behind_what_he_had_lost(self, kv: SqliteKV) -> None:
        async with kv.watch(b"/", b"0", revision=2) as batches:
            records = await write_versions(kv, b"/a", 15, LARGE)
            await kv.request_progress()
            records += await write_versions(kv, b"/b", 15, LARGE)

            events = await take_until(batches, records[-1].mod_revision)
            progress = await next_batch(batches)

        assert [event.record for event in events] == records
        assert (progress.is_progress, progress.revision) == (True, records[-1].mod_revision)

    async def test_one_who_keeps_up_beside_him_notices_nothing(self, kv: SqliteKV) -> None:
        async with kv.watch(b"/", b"0", revision=2), kv.watch(b"/", b"0", revision=2) as batches:
            record = await create(kv, b"/a", LARGE)
            for _ in range(30):
                assert [event.record for event in await take(batches, 1)] == [record]
                record = await update(kv, record, LARGE)

        assert record.version == 31


class TestIteration:
    async def test_a_cancelled_wait_goes_on_where_it_was(self, kv: SqliteKV) -> None:
        async with kv.watch(b"/", b"0", revision=2) as batches:
            waiting = asyncio.ensure_future(anext(batches))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            record = await create(kv, b"/a")

            assert [event.record for event in await take(batches, 1)] == [record]

    async def test_a_group_of_writes_comes_as_one_batch(self, kv: SqliteKV) -> None:
        async with kv.watch(b"/", b"0", revision=2) as batches:
            await asyncio.gather(*[create(kv, b"/%d" % number) for number in range(50)])

            batch = await next_batch(batches)

        assert [event.record.mod_revision for event in batch.events] == list(range(2, 52))

    async def test_a_watch_that_starts_within_a_group_has_the_rest_of_it(self, kv: SqliteKV) -> None:
        async with kv.watch(b"/", b"0", revision=30) as batches:
            await asyncio.gather(*[create(kv, b"/%d" % number) for number in range(50)])

            batch = await next_batch(batches)

        assert [event.record.mod_revision for event in batch.events] == list(range(30, 52))

    async def test_leaving_wakes_who_waits(self, kv: SqliteKV) -> None:
        async with kv.watch(b"/", b"0", revision=2) as batches:
            waiting = asyncio.create_task(_collect(batches))
            await asyncio.sleep(0)

        assert await waiting == []


BOUND = st.binary(min_size=1, max_size=2)


@given(
    scopes=st.lists(st.tuples(BOUND, BOUND), max_size=8),
    left=st.sets(st.integers(0, 7)),
    keys=st.lists(BOUND, min_size=1, max_size=20),
)
@settings(derandomize=True, deadline=None)
def test_each_range_gets_the_keys_that_it_covers(
    scopes: list[tuple[bytes, bytes]], left: set[int], keys: list[bytes]
) -> None:
    feed = Feed(1)
    subscriptions = [feed.subscribe(start, end) for start, end in scopes]
    for subscription in subscriptions:
        subscription.join(2, current=1)
    for index in left & set(range(len(scopes))):
        feed.unsubscribe(subscriptions[index])
    records = [Record(key, b"", revision, revision, 1) for revision, key in enumerate(keys, 2)]

    feed.publish([Event(EventType.PUT, record) for record in records], records[-1].mod_revision)

    for index, (start, end) in enumerate(scopes):
        batch = subscriptions[index].pop()
        expected = [record for record in records if start <= record.key < end and index not in left]
        assert [event.record for event in (batch.events if batch else ())] == expected


def apply(state: dict[bytes, Record], batch: EventBatch) -> None:
    for event in batch.events:
        assert event.previous == state.pop(event.record.key, None)
        if event.type is EventType.PUT:
            state[event.record.key] = event.record


async def _collect(batches: AsyncIterator[EventBatch]) -> list[EventBatch]:
    return [batch async for batch in batches]
