"""Compaction in the kv contract: what it removes, and how a reader of removed history learns of it."""

import pytest

from aio_apiserver.storage.errors import Compacted, FutureRevision
from aio_apiserver.storage.kv.interface import KV, Event, EventType, prefix_end
from aio_apiserver.storage.record import Record
from tests.storage.kv.steps import collect, create, keys_of, next_events, read, remove, take, take_until, update


class CompactionContract:
    async def test_history_below_the_compact_revision_is_gone(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a", b"one")
        second = await update(kv, first, b"two")

        await kv.compact(second.mod_revision)

        with pytest.raises(Compacted):
            await kv.get(first.key, revision=second.mod_revision - 1)
        with pytest.raises(Compacted):
            await kv.range(prefix, prefix_end(prefix), revision=second.mod_revision - 1)
        with pytest.raises(Compacted):
            await kv.range(prefix, prefix_end(prefix), revision=second.mod_revision - 1, count_only=True)

    async def test_the_compact_revision_itself_can_be_read(self, kv: KV, prefix: bytes) -> None:
        old = await create(kv, prefix + b"a", b"one")
        deleted = await create(kv, prefix + b"b")
        await remove(kv, deleted)
        kept = await create(kv, prefix + b"c")
        current = await update(kv, old, b"two")
        await update(kv, current, b"three")

        await kv.compact(current.mod_revision)

        result = await kv.range(prefix, prefix_end(prefix), revision=current.mod_revision)
        assert list(result.records) == [current, kept]
        assert await read(kv, old.key, revision=current.mod_revision) == current
        assert await read(kv, deleted.key, revision=current.mod_revision) is None

    async def test_what_comes_behind_the_compact_revision_stays(self, kv: KV, prefix: bytes) -> None:
        records = [await create(kv, prefix + b"a", b"0")]
        for number in range(1, 6):
            records.append(await update(kv, records[-1], b"%d" % number))

        await kv.compact(records[2].mod_revision)

        for record in records[2:]:
            assert await read(kv, record.key, revision=record.mod_revision) == record
        assert await read(kv, prefix + b"a") == records[-1]

    async def test_a_record_older_than_the_compaction_stays_while_it_is_current(self, kv: KV, prefix: bytes) -> None:
        old = await create(kv, prefix + b"old", b"value")
        later = await create(kv, prefix + b"later")

        await kv.compact(later.mod_revision)
        changed = await update(kv, old, b"changed")

        assert await read(kv, old.key, revision=later.mod_revision) == old
        assert await read(kv, old.key) == changed
        assert (changed.create_revision, changed.version) == (old.create_revision, 2)

    async def test_a_deletion_below_the_compact_revision_stays_deleted(self, kv: KV, prefix: bytes) -> None:
        deletion = await remove(kv, await create(kv, prefix + b"a"))
        later = await create(kv, prefix + b"b")
        assert deletion < later.mod_revision

        await kv.compact(later.mod_revision)

        assert await keys_of(kv, prefix, revision=later.mod_revision) == [later.key]
        again = await create(kv, prefix + b"a")
        assert (again.version, again.create_revision) == (1, again.mod_revision)

    async def test_compaction_takes_no_revision(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")
        await kv.compact(record.mod_revision)

        changed = await update(kv, record)

        assert await read(kv, record.key, revision=record.mod_revision) == record
        assert await read(kv, record.key) == changed

    async def test_compacting_again_is_refused(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a")
        second = await update(kv, first)
        await kv.compact(second.mod_revision)

        for revision in (second.mod_revision, first.mod_revision):
            with pytest.raises(Compacted):
                await kv.compact(revision)

    async def test_compacting_the_future_is_refused(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")

        with pytest.raises(FutureRevision):
            await kv.compact(await kv.current_revision() + 1_000_000)

        assert await read(kv, record.key, revision=record.mod_revision) == record

    async def test_compaction_goes_on_from_where_it_was(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a", b"0")
        for number in range(1, 5):
            record = await update(kv, record, b"%d" % number)
            await kv.compact(record.mod_revision)

        with pytest.raises(Compacted):
            await kv.get(record.key, revision=record.mod_revision - 1)
        assert await read(kv, record.key, revision=record.mod_revision) == record


class CompactionUnderWatchContract:
    async def test_a_watch_from_below_the_compact_revision_is_refused(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a")
        second = await update(kv, first)
        await kv.compact(second.mod_revision)

        async with kv.watch(prefix, prefix_end(prefix), revision=first.mod_revision) as batches:
            with pytest.raises(Compacted):
                await next_events(batches)

    async def test_a_range_without_events_is_refused_as_well(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a")
        second = await update(kv, first)
        await kv.compact(second.mod_revision)

        async with kv.watch(prefix + b"b", prefix + b"c", revision=first.mod_revision) as batches:
            with pytest.raises(Compacted):
                await next_events(batches)

    async def test_a_watch_from_the_compact_revision_has_all_from_there(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a", b"one")
        second = await update(kv, first, b"two")
        third = await update(kv, second, b"three")
        await kv.compact(second.mod_revision)

        events = await collect(kv, prefix, revision=second.mod_revision, until=third.mod_revision)

        assert [event.record for event in events] == [second, third]
        assert events[1].previous == second

    async def test_previous_records_reach_back_over_the_compaction(self, kv: KV, prefix: bytes) -> None:
        old = await create(kv, prefix + b"a", b"one")
        later = await create(kv, prefix + b"b")
        await kv.compact(later.mod_revision)
        changed = await update(kv, old, b"two")
        deletion = await remove(kv, changed)

        events = await collect(kv, prefix, revision=changed.mod_revision, until=deletion)

        assert [event.previous for event in events] == [old, changed]

    async def test_a_watch_in_step_goes_on_through_compactions(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a", b"0")
        async with kv.watch(prefix, prefix_end(prefix), revision=record.mod_revision) as batches:
            assert [event.record for event in await take(batches, 1)] == [record]
            for number in range(1, 6):
                await kv.compact(record.mod_revision)
                changed = await update(kv, record, b"%d" % number)

                assert await take(batches, 1) == [Event(EventType.PUT, changed, record)]
                record = changed

    async def test_an_idle_watch_goes_on_when_all_others_are_compacted(self, kv: KV, prefix: bytes) -> None:
        scope = prefix + b"idle/"
        async with kv.watch(scope, prefix_end(scope), revision=await kv.current_revision() + 1) as batches:
            record = await create(kv, prefix + b"busy")
            for _ in range(10):
                record = await update(kv, record)
            await kv.compact(record.mod_revision)
            own = await create(kv, scope + b"a")

            assert await take(batches, 1) == [Event(EventType.PUT, own, None)]

    @pytest.mark.parametrize("start", [0, 1], ids=["from the past", "live"])
    async def test_a_watch_that_lags_has_everything_or_fails(self, kv: KV, prefix: bytes, start: int) -> None:
        written = [await create(kv, prefix + b"a", b"0")]
        seen: list[Record] = []
        async with kv.watch(prefix, prefix_end(prefix), revision=written[0].mod_revision + start) as batches:
            for number in range(1, 30):
                written.append(await update(kv, written[-1], b"%d" % number))
            await kv.compact(written[-5].mod_revision)
            written.append(await update(kv, written[-1], b"the last"))
            try:
                seen.extend(event.record for event in await take_until(batches, written[-1].mod_revision))
            except Compacted:
                seen.clear()

        assert seen in ([], written[start:])

    async def test_a_watch_from_the_future_survives_a_compaction(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")
        async with kv.watch(prefix, prefix_end(prefix), revision=record.mod_revision + 2) as batches:
            await kv.compact(record.mod_revision)
            await update(kv, record)
            late = await create(kv, prefix + b"b")

            events = await take_until(batches, late.mod_revision)

        assert [event.record for event in events][-1] == late


class ExactCompactionContract:
    """For stores that keep a deletion at the compact revision itself: etcd does from 3.4.34, 3.5.16 and 3.6 on."""

    async def test_a_watch_from_the_compact_revision_sees_a_deletion_there(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")
        deletion = await remove(kv, record)
        await kv.compact(deletion)
        last = await create(kv, prefix + b"b")

        events = await collect(kv, prefix, revision=deletion, until=last.mod_revision)

        assert [(event.type, event.record.key) for event in events] == [
            (EventType.DELETE, record.key),
            (EventType.PUT, last.key),
        ]
