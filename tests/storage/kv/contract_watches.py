"""The watches of the kv contract: replay, then live; every event once, in order, with its previous record."""

from contextlib import AsyncExitStack

import pytest

from aio_apiserver.storage.kv.interface import KV, Event, EventType, prefix_end
from aio_apiserver.storage.record import Record
from tests.storage.kv.steps import (
    collect,
    create,
    remove,
    take,
    take_until,
    update,
)


class WatchEventContract:
    async def test_a_creation_is_a_put_without_previous(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a", b"one")

        (event,) = await collect(kv, prefix, revision=record.mod_revision, until=record.mod_revision)

        assert event == Event(EventType.PUT, record, None)
        assert event.is_create

    async def test_an_update_is_a_put_with_the_previous_record(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a", b"one")
        second = await update(kv, first, b"two")

        (event,) = await collect(kv, prefix, revision=second.mod_revision, until=second.mod_revision)

        assert event == Event(EventType.PUT, second, first)
        assert not event.is_create

    async def test_a_deletion_has_its_revision_and_the_previous_record(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a", b"one")
        deletion = await remove(kv, record)

        (event,) = await collect(kv, prefix, revision=deletion, until=deletion)

        assert event.type is EventType.DELETE
        assert (event.record.key, event.record.value, event.record.mod_revision) == (record.key, b"", deletion)
        assert event.previous == record
        assert not event.is_create

    async def test_a_key_that_was_created_again_has_no_previous(self, kv: KV, prefix: bytes) -> None:
        await remove(kv, await create(kv, prefix + b"a", b"one"))
        again = await create(kv, prefix + b"a", b"two")

        (event,) = await collect(kv, prefix, revision=again.mod_revision, until=again.mod_revision)

        assert event == Event(EventType.PUT, again, None)
        assert event.is_create

    async def test_live_events_have_their_previous_records_too(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a", b"one")
        async with kv.watch(prefix, prefix_end(prefix), revision=first.mod_revision + 1) as batches:
            second = await update(kv, first, b"two")
            await remove(kv, second)
            again = await create(kv, prefix + b"a", b"three")

            events = await take(batches, 3)

        assert [event.previous for event in events] == [first, second, None]
        assert events[2].record == again

    async def test_a_lost_write_is_no_event(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a", b"one")
        await kv.put(record.key, b"lost", expected_mod_revision=0)
        await kv.delete(prefix + b"b", expected_mod_revision=record.mod_revision)
        last = await create(kv, prefix + b"c", b"two")

        events = await collect(kv, prefix, revision=record.mod_revision, until=last.mod_revision)

        assert [event.record for event in events] == [record, last]


class WatchStartContract:
    @pytest.fixture
    async def history(self, kv: KV, prefix: bytes) -> list[Record]:
        """Three lives of a key, one write after the other. A tombstone stands for the deletion."""
        first = await create(kv, prefix + b"a", b"one")
        second = await update(kv, first, b"two")
        deletion = Record(first.key, b"", 0, await remove(kv, second), 0)
        return [first, second, deletion, await create(kv, prefix + b"a", b"three")]

    @pytest.mark.parametrize("start", range(4))
    async def test_a_watch_starts_with_its_revision(
        self, kv: KV, prefix: bytes, history: list[Record], start: int
    ) -> None:
        revision = history[start].mod_revision

        events = await collect(kv, prefix, revision=revision, until=history[-1].mod_revision)

        assert [event.record for event in events] == history[start:]

    async def test_a_watch_behind_the_last_write_has_only_what_comes(
        self, kv: KV, prefix: bytes, history: list[Record]
    ) -> None:
        async with kv.watch(prefix, prefix_end(prefix), revision=history[-1].mod_revision + 1) as batches:
            late = await create(kv, prefix + b"b")

            assert [event.record for event in await take(batches, 1)] == [late]

    async def test_replay_and_live_events_join_without_gap_or_repeat(
        self, kv: KV, prefix: bytes, history: list[Record]
    ) -> None:
        async with kv.watch(prefix, prefix_end(prefix), revision=history[0].mod_revision) as batches:
            replayed = await take_until(batches, history[-1].mod_revision)
            late = await update(kv, history[-1], b"four")

            live = await take(batches, 1)

        assert [event.record for event in replayed + live] == [*history, late]

    async def test_a_replay_goes_on_while_there_are_writes(self, kv: KV, prefix: bytes, history: list[Record]) -> None:
        async with kv.watch(prefix, prefix_end(prefix), revision=history[0].mod_revision) as batches:
            seen = await take(batches, 1)
            late = await update(kv, history[-1], b"four")

            seen += await take_until(batches, late.mod_revision)

        assert [event.record for event in seen] == [*history, late]

    async def test_a_watch_from_the_future_starts_there(self, kv: KV, prefix: bytes) -> None:
        start = await kv.current_revision() + 3
        async with kv.watch(prefix, prefix_end(prefix), revision=start) as batches:
            records = [await create(kv, prefix + b"%d" % number) for number in range(6)]
            expected = [record for record in records if record.mod_revision >= start]

            events = await take_until(batches, records[-1].mod_revision)

        assert len(expected) < len(records)
        assert [event.record for event in events] == expected

    async def test_the_next_revision_is_no_future(self, kv: KV, prefix: bytes) -> None:
        async with kv.watch(prefix, prefix_end(prefix), revision=await kv.current_revision() + 1) as batches:
            record = await create(kv, prefix + b"a")

            assert [event.record for event in await take(batches, 1)] == [record]

    async def test_a_long_replay_is_complete(self, kv: KV, prefix: bytes) -> None:
        records = [await create(kv, prefix + b"a")]
        for number in range(300):
            records.append(await update(kv, records[-1], b"%d" % number))

        events = await collect(kv, prefix, revision=records[0].mod_revision, until=records[-1].mod_revision)

        assert [event.record for event in events] == records
        assert [event.previous for event in events] == [None, *records[:-1]]

    async def test_replayed_values_may_be_large(self, kv: KV, prefix: bytes) -> None:
        value = bytes(1_000_000)
        records = [await create(kv, prefix + b"%d" % number, value) for number in range(5)]

        events = await collect(kv, prefix, revision=records[0].mod_revision, until=records[-1].mod_revision)

        assert [event.record.key for event in events] == [record.key for record in records]
        assert {len(event.record.value) for event in events} == {1_000_000}


class WatchRangeContract:
    async def test_a_watch_sees_its_range_only(self, kv: KV, prefix: bytes) -> None:
        names = [b"a", b"b", b"b\x00", b"bb", b"c", b"d"]
        records = [await create(kv, prefix + name) for name in names]
        last = await create(kv, prefix + b"b-last")

        async with kv.watch(prefix + b"b", prefix + b"c", revision=records[0].mod_revision) as batches:
            events = await take_until(batches, last.mod_revision)

        assert [event.record.key for event in events] == [prefix + name for name in (b"b", b"b\x00", b"bb", b"b-last")]

    async def test_one_key_is_a_range(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a")
        await create(kv, prefix + b"a\x00")
        await create(kv, prefix + b"aa")
        second = await update(kv, first)

        async with kv.watch(first.key, first.key + b"\x00", revision=first.mod_revision) as batches:
            events = await take(batches, 2)

        assert [event.record for event in events] == [first, second]

    async def test_watches_of_different_ranges_do_not_mix(self, kv: KV, prefix: bytes) -> None:
        async with AsyncExitStack() as stack:
            revision = await kv.current_revision() + 1
            scopes = [prefix + name for name in (b"a/", b"b/", b"c/")]
            watches = [
                await stack.enter_async_context(kv.watch(scope, prefix_end(scope), revision=revision))
                for scope in scopes
            ]
            for name in (b"1", b"2"):
                for scope in scopes:
                    await create(kv, scope + name)

            for scope, batches in zip(scopes, watches, strict=True):
                assert [event.record.key for event in await take(batches, 2)] == [scope + b"1", scope + b"2"]
