"""The flow of watches in the kv contract: order under concurrent writers, progress, and how a watch ends."""

import asyncio
from contextlib import AsyncExitStack
from itertools import chain

import pytest

from aio_apiserver.storage.kv.interface import KV, Event, EventType, prefix_end
from aio_apiserver.storage.record import Record
from tests.storage.kv.steps import (
    collect,
    create,
    next_batch,
    next_events,
    remove,
    shape,
    take,
    update,
)


class WatchOrderContract:
    async def test_every_watcher_sees_the_same_events(self, kv: KV, prefix: bytes) -> None:
        async with AsyncExitStack() as stack:
            revision = await kv.current_revision() + 1
            watches = [
                await stack.enter_async_context(kv.watch(prefix, prefix_end(prefix), revision=revision))
                for _ in range(10)
            ]
            first = await create(kv, prefix + b"a")
            second = await update(kv, first)
            await remove(kv, second)

            seen = [await take(batches, 3) for batches in watches]

        assert [event.previous for event in seen[0]] == [None, first, second]
        assert all(events == seen[0] for events in seen)

    async def test_concurrent_writes_are_seen_once_and_in_order(self, kv: KV, prefix: bytes) -> None:
        async def write(writer: int) -> list[int]:
            record = await create(kv, prefix + b"%d" % writer)
            revisions = [record.mod_revision]
            for number in range(8):
                record = await update(kv, record, b"%d" % number)
                revisions.append(record.mod_revision)
            return [*revisions, await remove(kv, record)]

        revision = await kv.current_revision() + 1
        async with kv.watch(prefix, prefix_end(prefix), revision=revision) as batches:
            written = await asyncio.gather(*map(write, range(10)))

            live = await take(batches, 100)
        replayed = await collect(kv, prefix, revision=revision, until=live[-1].record.mod_revision)

        assert [event.record.mod_revision for event in live] == sorted(chain.from_iterable(written))
        assert replayed == live
        assert_links(live)

    async def test_watches_opened_among_writes_miss_nothing(self, kv: KV, prefix: bytes) -> None:
        record = first = await create(kv, prefix + b"a")
        opened = asyncio.Event()

        async def watch_from(start: Record) -> list[Event]:
            async with kv.watch(prefix, prefix_end(prefix), revision=start.mod_revision) as batches:
                opened.set()
                return await take(batches, 40 - start.version + 1)

        watchers = []
        for version in range(2, 41):
            if version % 8 == 0:
                opened.clear()
                watchers.append(asyncio.create_task(watch_from(record)))
                await opened.wait()
            record = await update(kv, record)
        seen = await asyncio.gather(*watchers)

        assert [[event.record.version for event in events] for events in seen] == [
            list(range(start, 41)) for start in (7, 15, 23, 31, 39)
        ]
        assert {event.record.create_revision for events in seen for event in events} == {first.mod_revision}

    async def test_a_batch_says_up_to_which_revision_it_goes(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")
        start = record.mod_revision
        for _ in range(10):
            record = await update(kv, record)

        seen: list[int] = []
        async with kv.watch(prefix, prefix_end(prefix), revision=start) as batches:
            while not seen or seen[-1] < record.mod_revision:
                batch = await next_events(batches)
                revisions = [event.record.mod_revision for event in batch.events]
                assert batch.revision == revisions[-1]
                assert not seen or seen[-1] < revisions[0]
                seen.extend(revisions)

        assert len(seen) == 11

    async def test_all_events_of_one_revision_come_in_one_batch(self, kv: KV, prefix: bytes) -> None:
        lease = await kv.grant_lease(1000)
        leased = [await create(kv, prefix + b"%02d" % number, lease=lease) for number in range(20)]
        start = leased[-1].mod_revision + 1
        async with kv.watch(prefix, prefix_end(prefix), revision=start) as live:
            await kv.revoke_lease(lease)

            from_live = await next_events(live)
        async with kv.watch(prefix, prefix_end(prefix), revision=start) as replay:
            from_replay = await next_events(replay)

        assert [event.record.key for event in from_live.events] == [record.key for record in leased]
        assert [event.previous for event in from_live.events] == leased
        assert {event.record.mod_revision for event in from_live.events} == {from_live.revision}
        assert (list(from_replay.events), from_replay.revision) == (list(from_live.events), from_live.revision)

    async def test_of_one_revision_a_watch_has_what_its_range_has(self, kv: KV, prefix: bytes) -> None:
        lease = await kv.grant_lease(1000)
        for name in (b"a/1", b"b/1", b"b/2", b"c/1"):
            last = await create(kv, prefix + name, lease=lease)
        await kv.revoke_lease(lease)

        async with kv.watch(prefix + b"b/", prefix_end(prefix + b"b/"), revision=last.mod_revision + 1) as batches:
            batch = await next_events(batches)

        assert [shape(event) for event in batch.events] == [
            ("DELETE", prefix + b"b/1", b""),
            ("DELETE", prefix + b"b/2", b""),
        ]


class WatchEndContract:
    async def test_a_watch_that_was_left_yields_no_more(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")
        async with kv.watch(prefix, prefix_end(prefix), revision=record.mod_revision) as batches:
            await update(kv, record)

        assert [batch async for batch in batches] == []

    async def test_a_watch_may_be_left_before_it_yields(self, kv: KV, prefix: bytes) -> None:
        async with kv.watch(prefix, prefix_end(prefix), revision=await kv.current_revision() + 1):
            pass

        await create(kv, prefix + b"a")

    async def test_leaving_ends_a_wait_for_a_batch(self, kv: KV, prefix: bytes) -> None:
        async with kv.watch(prefix, prefix_end(prefix), revision=await kv.current_revision() + 1) as batches:
            waiting = asyncio.create_task(next_batch(batches))
            await asyncio.sleep(0)

        with pytest.raises(StopAsyncIteration):
            await waiting

    async def test_a_wait_for_a_batch_that_is_cancelled_loses_nothing(self, kv: KV, prefix: bytes) -> None:
        async with kv.watch(prefix, prefix_end(prefix), revision=await kv.current_revision() + 1) as batches:
            waiting = asyncio.create_task(next_events(batches))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            record = await create(kv, prefix + b"a")

            events = await take(batches, 1)

        assert waiting.cancelled()
        assert [event.record for event in events] == [record]

    async def test_leaving_one_watch_does_not_disturb_the_others(self, kv: KV, prefix: bytes) -> None:
        revision = await kv.current_revision() + 1
        async with kv.watch(prefix, prefix_end(prefix), revision=revision) as staying:
            async with kv.watch(prefix, prefix_end(prefix), revision=revision) as leaving:
                record = await create(kv, prefix + b"a")
                await take(leaving, 1)
            changed = await update(kv, record)

            assert [event.record for event in await take(staying, 2)] == [record, changed]

    async def test_watches_come_and_go_in_numbers(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")
        for _ in range(50):
            async with kv.watch(prefix, prefix_end(prefix), revision=record.mod_revision + 1) as batches:
                record = await update(kv, record)

                assert [event.record for event in await take(batches, 1)] == [record]


class ProgressContract:
    async def test_a_requested_progress_reaches_an_open_watch(self, kv: KV, prefix: bytes) -> None:
        revision = await kv.current_revision()
        async with kv.watch(prefix, prefix_end(prefix), revision=revision + 1) as batches:
            await kv.request_progress()

            batch = await next_batch(batches)

        assert batch.is_progress
        assert batch.revision >= revision

    async def test_progress_includes_writes_outside_of_the_range(self, kv: KV, prefix: bytes) -> None:
        scope = prefix + b"watched/"
        async with kv.watch(scope, prefix_end(scope), revision=await kv.current_revision() + 1) as batches:
            elsewhere = await create(kv, prefix + b"elsewhere")
            batch = None
            while batch is None or batch.revision < elsewhere.mod_revision:
                await kv.request_progress()
                batch = await next_batch(batches)

        assert batch.is_progress

    async def test_a_reliable_progress_never_overtakes_events(self, kv: KV, prefix: bytes) -> None:
        seen, promised = 0, 0
        async with kv.watch(prefix, prefix_end(prefix), revision=await kv.current_revision() + 1) as batches:
            for number in range(20):
                last = await create(kv, prefix + b"%d" % number)
                await kv.request_progress()
            while seen < last.mod_revision:
                batch = await next_batch(batches)
                if batch.is_progress:
                    promised = batch.revision
                else:
                    assert not kv.has_reliable_progress or batch.events[0].record.mod_revision > promised
                    seen = batch.revision

        assert seen == last.mod_revision

    async def test_progress_without_watches_is_fine(self, kv: KV) -> None:
        await kv.request_progress()

        assert (await kv.health()).healthy


def assert_links(events: list[Event]) -> None:
    """The previous record of each event is the record that the event before it wrote."""
    state: dict[bytes, Record] = {}
    for event in events:
        assert event.previous == state.pop(event.record.key, None)
        if event.type is EventType.PUT:
            state[event.record.key] = event.record
