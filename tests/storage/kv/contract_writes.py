"""The writes of the kv contract: compare-and-set put and delete, their limits and their races."""

import asyncio

import pytest

from aio_apiserver.storage.errors import TooLarge
from aio_apiserver.storage.kv.interface import KV, MAX_VALUE_BYTES, WriteResult, prefix_end
from aio_apiserver.storage.record import Record
from tests.storage.kv.steps import create, read, remove, update, written


class PutContract:
    async def test_a_created_key_starts_at_version_one(self, kv: KV, prefix: bytes) -> None:
        result = await kv.put(prefix + b"a", b"one", expected_mod_revision=0)

        assert (result.succeeded, result.record) == (True, None)
        assert await read(kv, prefix + b"a") == Record(prefix + b"a", b"one", result.revision, result.revision, 1)

    async def test_an_update_keeps_the_create_revision_and_counts_the_version(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a", b"one")

        second = await update(kv, first, b"two")
        third = await update(kv, second, b"three")

        assert first.mod_revision < second.mod_revision < third.mod_revision
        assert await read(kv, first.key) == third
        assert third == Record(first.key, b"three", first.create_revision, third.mod_revision, 3)

    async def test_a_key_that_was_created_again_starts_over(self, kv: KV, prefix: bytes) -> None:
        first = await update(kv, await create(kv, prefix + b"a"))
        deletion = await remove(kv, first)

        again = await create(kv, prefix + b"a", b"two")

        assert await read(kv, first.key) == Record(first.key, b"two", again.mod_revision, again.mod_revision, 1)
        assert again.mod_revision > deletion

    async def test_a_create_loses_against_an_existing_key(self, kv: KV, prefix: bytes) -> None:
        existing = await create(kv, prefix + b"a", b"one")

        result = await kv.put(prefix + b"a", b"two", expected_mod_revision=0)

        assert not result.succeeded
        assert result.record == existing
        assert result.revision >= existing.mod_revision
        assert await read(kv, prefix + b"a") == existing

    async def test_an_update_loses_against_a_newer_record(self, kv: KV, prefix: bytes) -> None:
        old = await create(kv, prefix + b"a", b"one")
        current = await update(kv, old, b"two")

        result = await kv.put(old.key, b"three", expected_mod_revision=old.mod_revision)

        assert (result.succeeded, result.record) == (False, current)
        assert await read(kv, old.key) == current

    async def test_an_update_loses_against_a_key_that_does_not_exist(self, kv: KV, prefix: bytes) -> None:
        other = await create(kv, prefix + b"b")

        result = await kv.put(prefix + b"a", b"one", expected_mod_revision=other.mod_revision)

        assert (result.succeeded, result.record) == (False, None)
        assert await read(kv, prefix + b"a") is None

    async def test_an_update_loses_against_a_deletion(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")
        await remove(kv, record)

        result = await kv.put(record.key, b"two", expected_mod_revision=record.mod_revision)

        assert (result.succeeded, result.record) == (False, None)

    async def test_putting_the_same_value_again_is_a_write(self, kv: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a", b"one")

        second = await update(kv, first, b"one")

        assert second.mod_revision > first.mod_revision
        assert await read(kv, first.key) == second

    async def test_each_write_has_a_greater_revision_than_those_before(self, kv: KV, prefix: bytes) -> None:
        revisions = [(await create(kv, prefix + b"%d" % number)).mod_revision for number in range(5)]

        assert revisions == sorted(set(revisions))
        assert await kv.current_revision() >= revisions[-1]


class DeleteContract:
    async def test_a_deletion_has_a_revision_of_its_own(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a", b"one")

        result = await kv.delete(record.key, expected_mod_revision=record.mod_revision)

        assert (result.succeeded, result.record) == (True, None)
        assert result.revision > record.mod_revision
        assert await read(kv, record.key) is None

    async def test_a_deletion_loses_against_a_newer_record(self, kv: KV, prefix: bytes) -> None:
        old = await create(kv, prefix + b"a", b"one")
        current = await update(kv, old, b"two")

        result = await kv.delete(old.key, expected_mod_revision=old.mod_revision)

        assert (result.succeeded, result.record) == (False, current)
        assert await read(kv, old.key) == current

    async def test_a_deletion_loses_against_a_key_that_does_not_exist(self, kv: KV, prefix: bytes) -> None:
        other = await create(kv, prefix + b"b")

        result = await kv.delete(prefix + b"a", expected_mod_revision=other.mod_revision)

        assert (result.succeeded, result.record) == (False, None)

    async def test_a_deletion_loses_against_another_deletion(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")
        await remove(kv, record)

        result = await kv.delete(record.key, expected_mod_revision=record.mod_revision)

        assert (result.succeeded, result.record) == (False, None)

    async def test_a_deletion_leaves_the_neighbours_alone(self, kv: KV, prefix: bytes) -> None:
        shorter, record, longer = [await create(kv, prefix + name) for name in (b"a", b"ab", b"abc")]

        await remove(kv, record)

        result = await kv.range(prefix, prefix_end(prefix))
        assert list(result.records) == [shorter, longer]


class ValueContract:
    async def test_a_value_may_be_empty(self, kv: KV, prefix: bytes) -> None:
        written = await create(kv, prefix + b"a", b"")

        found = await read(kv, prefix + b"a")

        assert found == written
        assert found.value == b""

    async def test_keys_and_values_are_any_bytes(self, kv: KV, prefix: bytes) -> None:
        every_byte = bytes(range(256))

        written = await create(kv, prefix + every_byte, every_byte)

        assert (written.key, written.value) == (prefix + every_byte, every_byte)
        assert await read(kv, prefix + every_byte) == written

    async def test_the_largest_value_is_stored(self, kv: KV, prefix: bytes) -> None:
        value = bytes(range(256)) * (MAX_VALUE_BYTES // 256)

        await create(kv, prefix + b"a", value)

        found = await read(kv, prefix + b"a")
        assert found is not None
        assert found.value == value

    async def test_one_byte_more_is_too_large_and_nothing_is_written(self, kv: KV, prefix: bytes) -> None:
        with pytest.raises(TooLarge):
            await kv.put(prefix + b"a", bytes(MAX_VALUE_BYTES + 1), expected_mod_revision=0)

        assert await read(kv, prefix + b"a") is None

    async def test_a_far_larger_value_is_too_large_as_well(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")

        with pytest.raises(TooLarge):
            await kv.put(record.key, bytes(8 * MAX_VALUE_BYTES), expected_mod_revision=record.mod_revision)

        assert await read(kv, prefix + b"a") == record

    async def test_a_range_may_be_larger_than_any_value(self, kv: KV, prefix: bytes) -> None:
        value = bytes(MAX_VALUE_BYTES)
        for number in range(4):
            await create(kv, prefix + b"%d" % number, value)

        result = await kv.range(prefix, prefix_end(prefix))

        assert [len(record.value) for record in result.records] == [MAX_VALUE_BYTES] * 4


class RaceContract:
    async def test_of_a_hundred_puts_on_one_revision_exactly_one_wins(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")

        async def put(number: int) -> WriteResult:
            return await kv.put(record.key, b"%d" % number, expected_mod_revision=record.mod_revision)

        results = await asyncio.gather(*map(put, range(100)))

        ((number, winner),) = [(number, result) for number, result in enumerate(results) if result.succeeded]
        left = written(record.key, b"%d" % number, winner, before=record)
        assert await read(kv, record.key) == left
        assert {result.record for result in results} == {None, left}

    async def test_of_many_creates_exactly_one_wins(self, kv: KV, prefix: bytes) -> None:
        async def put(number: int) -> WriteResult:
            return await kv.put(prefix + b"a", b"%d" % number, expected_mod_revision=0)

        results = await asyncio.gather(*map(put, range(30)))

        ((number, winner),) = [(number, result) for number, result in enumerate(results) if result.succeeded]
        assert await read(kv, prefix + b"a") == written(prefix + b"a", b"%d" % number, winner)

    async def test_of_many_deletions_exactly_one_wins(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")

        results = await asyncio.gather(
            *[kv.delete(record.key, expected_mod_revision=record.mod_revision) for _ in range(30)]
        )

        assert sum(result.succeeded for result in results) == 1

    async def test_a_put_and_a_deletion_never_both_win(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")

        put, deletion = await asyncio.gather(
            kv.put(record.key, b"two", expected_mod_revision=record.mod_revision),
            kv.delete(record.key, expected_mod_revision=record.mod_revision),
        )

        assert put.succeeded != deletion.succeeded
        assert await read(kv, record.key) == (
            written(record.key, b"two", put, before=record) if put.succeeded else None
        )

    async def test_retrying_writers_lose_no_increment(self, kv: KV, prefix: bytes) -> None:
        await create(kv, prefix + b"counter", b"0")

        async def increment() -> None:
            current = await read(kv, prefix + b"counter")
            while True:
                assert current is not None
                value = b"%d" % (int(current.value) + 1)
                result = await kv.put(current.key, value, expected_mod_revision=current.mod_revision)
                if result.succeeded:
                    return
                current = result.record

        await asyncio.gather(*[increment() for _ in range(20)])

        final = await read(kv, prefix + b"counter")
        assert final is not None
        assert (final.value, final.version) == (b"20", 21)

    async def test_writes_of_different_keys_all_win_with_their_own_revisions(self, kv: KV, prefix: bytes) -> None:
        records = await asyncio.gather(*[create(kv, prefix + b"%03d" % number) for number in range(100)])

        result = await kv.range(prefix, prefix_end(prefix))
        assert len({record.mod_revision for record in records}) == 100
        assert list(result.records) == list(records)
