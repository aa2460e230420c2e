"""The reads of the kv contract: get, range, and both at past revisions."""

import asyncio

import pytest

from aio_apiserver.storage.errors import FutureRevision
from aio_apiserver.storage.kv.interface import KV, prefix_end
from aio_apiserver.storage.record import Record
from tests.storage.kv.steps import create, keys_of, read, remove, update


class GetContract:
    async def test_get_returns_what_was_put(self, kv: KV, prefix: bytes) -> None:
        written = await create(kv, prefix + b"a", b"one")

        result = await kv.get(prefix + b"a")

        assert result.record == written
        assert result.revision >= written.mod_revision

    async def test_get_of_a_missing_key_has_no_record(self, kv: KV, prefix: bytes) -> None:
        written = await create(kv, prefix + b"a")

        result = await kv.get(prefix + b"b")

        assert result.record is None
        assert result.revision >= written.mod_revision

    async def test_get_takes_the_key_exactly(self, kv: KV, prefix: bytes) -> None:
        await create(kv, prefix + b"ab")

        assert await read(kv, prefix + b"a") is None
        assert await read(kv, prefix + b"abc") is None
        assert await read(kv, prefix + b"ab\x00") is None

    async def test_get_at_a_revision_shows_the_record_of_then(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a", b"one")
        between = await create(kv, prefix + b"b")
        second = await update(kv, first, b"two")

        assert await read(kv, first.key, revision=first.mod_revision) == first
        assert await read(kv, first.key, revision=between.mod_revision) == first
        assert await read(kv, first.key, revision=second.mod_revision) == second

    async def test_get_before_the_creation_has_no_record(self, kv: KV, prefix: bytes) -> None:
        before = await create(kv, prefix + b"a")
        late = await create(kv, prefix + b"b")

        assert await read(kv, late.key, revision=before.mod_revision) is None

    async def test_get_from_the_deletion_on_has_no_record(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")
        deletion = await remove(kv, record)
        after = await create(kv, prefix + b"b")

        assert await read(kv, record.key, revision=deletion - 1) == record
        assert await read(kv, record.key, revision=deletion) is None
        assert await read(kv, record.key, revision=after.mod_revision) is None
        assert await read(kv, record.key) is None

    async def test_get_shows_each_life_of_a_key_that_was_created_again(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a", b"one")
        deletion = await remove(kv, first)
        second = await create(kv, prefix + b"a", b"two")

        assert await read(kv, first.key, revision=first.mod_revision) == first
        assert await read(kv, first.key, revision=deletion) is None
        assert await read(kv, first.key, revision=second.mod_revision) == second

    async def test_get_at_a_future_revision_is_refused(self, kv: KV, prefix: bytes) -> None:
        future = await kv.current_revision() + 1_000_000

        with pytest.raises(FutureRevision):
            await kv.get(prefix + b"a", revision=future)

    async def test_a_read_sees_every_write_that_returned_before(self, kv: KV, prefix: bytes) -> None:
        async def write_and_read(number: int) -> None:
            written = await create(kv, prefix + b"%d" % number)
            result = await kv.get(written.key)
            listed = await kv.range(prefix, prefix_end(prefix))
            assert result.record == written
            assert result.revision >= written.mod_revision
            assert written in listed.records
            assert listed.revision >= written.mod_revision
            assert await kv.current_revision() >= written.mod_revision

        await asyncio.gather(*map(write_and_read, range(20)))


class RangeContract:
    @pytest.fixture
    async def five(self, kv: KV, prefix: bytes) -> list[bytes]:
        """Five keys under the prefix, in key order."""
        keys = [prefix + name for name in (b"a", b"b", b"c", b"d", b"e")]
        for key in (keys[3], keys[0], keys[4], keys[2], keys[1]):
            await create(kv, key, b"value of " + key[-1:])
        return keys

    async def test_a_range_is_in_key_order(self, kv: KV, prefix: bytes, five: list[bytes]) -> None:
        result = await kv.range(prefix, prefix_end(prefix))

        assert [record.key for record in result.records] == five
        assert [record.value for record in result.records] == [b"value of " + key[-1:] for key in five]
        assert (result.count, result.more) == (5, False)

    async def test_a_range_has_the_records_that_get_has(self, kv: KV, prefix: bytes, five: list[bytes]) -> None:
        result = await kv.range(prefix, prefix_end(prefix))

        assert list(result.records) == [await read(kv, key) for key in five]

    async def test_a_range_includes_its_start_and_not_its_end(self, kv: KV, five: list[bytes]) -> None:
        result = await kv.range(five[1], five[3])

        assert [record.key for record in result.records] == five[1:3]

    async def test_a_range_ends_between_keys(self, kv: KV, five: list[bytes]) -> None:
        result = await kv.range(five[1] + b"\x00", five[3] + b"\x00")

        assert [record.key for record in result.records] == five[2:4]

    async def test_a_range_without_keys_is_empty(self, kv: KV, prefix: bytes) -> None:
        result = await kv.range(prefix, prefix_end(prefix))

        assert (list(result.records), result.count, result.more) == ([], 0, False)

    async def test_a_range_that_ends_where_it_starts_is_empty(self, kv: KV, five: list[bytes]) -> None:
        result = await kv.range(five[2], five[2])

        assert (list(result.records), result.count) == ([], 0)

    async def test_a_range_that_ends_before_it_starts_is_empty(self, kv: KV, five: list[bytes]) -> None:
        result = await kv.range(five[3], five[1])

        assert (list(result.records), result.count) == ([], 0)

    @pytest.mark.parametrize(
        ("limit", "returned", "more"), [(0, 5, False), (1, 1, True), (4, 4, True), (5, 5, False), (6, 5, False)]
    )
    async def test_a_limit_cuts_the_records_and_not_the_count(
        self, kv: KV, prefix: bytes, five: list[bytes], limit: int, returned: int, more: bool
    ) -> None:
        result = await kv.range(prefix, prefix_end(prefix), limit=limit)

        assert [record.key for record in result.records] == five[:returned]
        assert (result.count, result.more) == (5, more)

    async def test_keys_only_leaves_out_nothing_but_the_values(self, kv: KV, prefix: bytes, five: list[bytes]) -> None:
        lease = await kv.grant_lease(1000)
        leased = await create(kv, prefix + b"f", lease=lease)
        full = await kv.range(prefix, prefix_end(prefix))

        result = await kv.range(prefix, prefix_end(prefix), keys_only=True)

        assert [record.value for record in result.records] == [b""] * 6
        assert [(r.key, r.create_revision, r.mod_revision, r.version, r.lease) for r in result.records] == [
            (r.key, r.create_revision, r.mod_revision, r.version, r.lease) for r in full.records
        ]
        assert result.records[-1].lease == leased.lease == lease

    async def test_keys_only_takes_a_limit(self, kv: KV, prefix: bytes, five: list[bytes]) -> None:
        result = await kv.range(prefix, prefix_end(prefix), keys_only=True, limit=2)

        assert [record.key for record in result.records] == five[:2]
        assert (result.count, result.more) == (5, True)

    async def test_count_only_has_no_records(self, kv: KV, prefix: bytes, five: list[bytes]) -> None:
        result = await kv.range(prefix, prefix_end(prefix), count_only=True)

        assert (list(result.records), result.count) == ([], 5)

    async def test_a_count_has_no_limit(self, kv: KV, prefix: bytes, five: list[bytes]) -> None:
        result = await kv.range(prefix, prefix_end(prefix), count_only=True, limit=2)

        assert (list(result.records), result.count) == ([], 5)

    async def test_keys_are_ordered_as_bytes(self, kv: KV, prefix: bytes) -> None:
        names = [b"\x00", b"\x00\x00", b"\x01", b"/", b"0", b"A", b"a", b"a\x00", b"aa", b"\x7f", b"\x80", b"\xff"]
        for name in reversed(names):
            await create(kv, prefix + name)

        assert await keys_of(kv, prefix) == [prefix + name for name in names]

    async def test_a_prefix_that_ends_with_the_last_byte_is_a_range(self, kv: KV, prefix: bytes) -> None:
        for name in (b"\xfe", b"\xff", b"\xff\x00", b"\xff\xff", b"\xff\xff\xff"):
            await create(kv, prefix + name)

        assert await keys_of(kv, prefix + b"\xff") == [
            prefix + name for name in (b"\xff", b"\xff\x00", b"\xff\xff", b"\xff\xff\xff")
        ]
        assert await keys_of(kv, prefix + b"\xff\xff") == [prefix + name for name in (b"\xff\xff", b"\xff\xff\xff")]


class RangeAtRevisionContract:
    async def test_a_range_at_a_revision_shows_the_state_of_then(self, kv: KV, prefix: bytes) -> None:
        a = await create(kv, prefix + b"a")
        b = await create(kv, prefix + b"b")
        changed = await update(kv, a)
        deletion = await remove(kv, b)
        c = await create(kv, prefix + b"c")

        async def state_at(revision: int) -> list[object]:
            return list((await kv.range(prefix, prefix_end(prefix), revision=revision)).records)

        assert await state_at(a.mod_revision) == [a]
        assert await state_at(b.mod_revision) == [a, b]
        assert await state_at(changed.mod_revision) == [changed, b]
        assert await state_at(deletion) == [changed]
        assert await state_at(c.mod_revision) == [changed, c]

    async def test_a_range_before_everything_is_empty(self, kv: KV, prefix: bytes) -> None:
        before = await create(kv, prefix + b"a")
        inner = prefix + b"inner/"
        await create(kv, inner + b"a")

        result = await kv.range(inner, prefix_end(inner), revision=before.mod_revision)

        assert (list(result.records), result.count, result.more) == ([], 0, False)

    async def test_a_range_shows_each_life_of_a_key_that_was_created_again(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a", b"one")
        deletion = await remove(kv, first)
        second = await create(kv, prefix + b"a", b"two")
        last_deletion = await remove(kv, second)

        async def state_at(revision: int) -> list[object]:
            return list((await kv.range(prefix, prefix_end(prefix), revision=revision)).records)

        assert await state_at(first.mod_revision) == [first]
        assert await state_at(deletion) == []
        assert await state_at(second.mod_revision) == [second]
        assert await state_at(last_deletion) == []

    async def test_limit_and_count_are_those_of_the_past_revision(self, kv: KV, prefix: bytes) -> None:
        records = [await create(kv, prefix + name) for name in (b"a", b"b", b"c")]
        past = records[-1].mod_revision
        await remove(kv, records[0])
        await create(kv, prefix + b"d")
        await create(kv, prefix + b"e")

        cut = await kv.range(prefix, prefix_end(prefix), revision=past, limit=2)
        whole = await kv.range(prefix, prefix_end(prefix), revision=past, limit=3)
        counted = await kv.range(prefix, prefix_end(prefix), revision=past, count_only=True)

        assert (list(cut.records), cut.count, cut.more) == (records[:2], 3, True)
        assert (list(whole.records), whole.count, whole.more) == (records, 3, False)
        assert (list(counted.records), counted.count) == ([], 3)

    async def test_keys_only_works_on_past_revisions(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a", b"one")
        await update(kv, first, b"two")

        result = await kv.range(prefix, prefix_end(prefix), revision=first.mod_revision, keys_only=True)

        (record,) = result.records
        assert (record.key, record.value, record.mod_revision) == (first.key, b"", first.mod_revision)

    async def test_pages_at_one_revision_add_up_whatever_is_written_between(self, kv: KV, prefix: bytes) -> None:
        records = [await create(kv, prefix + b"%02d" % number) for number in range(10)]
        revision = records[-1].mod_revision
        pages: list[Record] = []
        start = prefix
        while True:
            page = await kv.range(start, prefix_end(prefix), revision=revision, limit=3)
            pages.extend(page.records)
            if not page.more:
                break
            start = page.records[-1].key + b"\x00"
            await create(kv, prefix + b"%02d-late" % len(pages))
            await remove(kv, records.pop())

        assert [record.key for record in pages] == [prefix + b"%02d" % number for number in range(10)]

    async def test_the_current_revision_can_be_read(self, kv: KV, prefix: bytes) -> None:
        written = await create(kv, prefix + b"a")

        result = await kv.range(prefix, prefix_end(prefix), revision=await kv.current_revision())

        assert list(result.records) == [written]

    async def test_a_range_at_a_future_revision_is_refused(self, kv: KV, prefix: bytes) -> None:
        future = await kv.current_revision() + 1_000_000

        with pytest.raises(FutureRevision):
            await kv.range(prefix, prefix_end(prefix), revision=future)
