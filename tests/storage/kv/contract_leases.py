"""Leases in the kv contract: keys that go when their lease expires or is revoked, all in one revision."""

import pytest

from aio_apiserver.storage.errors import LeaseNotFound
from aio_apiserver.storage.kv.interface import KV, EventType, prefix_end
from tests.storage.kv.steps import Elapse, create, keys_of, next_events, read, remove, update

UNKNOWN_LEASE = 2**62 + 4711
TTL = 2
"""The shortest TTL that etcd with its usual election timeout grants unchanged."""


class LeaseContract:
    async def test_leases_have_ids_of_their_own(self, kv: KV) -> None:
        leases = [await kv.grant_lease(1000) for _ in range(5)]

        assert len(set(leases)) == 5
        assert min(leases) > 0

    async def test_a_record_tells_its_lease(self, kv: KV, prefix: bytes) -> None:
        lease = await kv.grant_lease(1000)

        record = await create(kv, prefix + b"a", lease=lease)

        assert record.lease == lease
        assert await read(kv, record.key) == record

    async def test_an_event_tells_the_lease_of_its_record(self, kv: KV, prefix: bytes) -> None:
        lease = await kv.grant_lease(1000)
        record = await create(kv, prefix + b"a", lease=lease)
        freed = await update(kv, record)

        async with kv.watch(prefix, prefix_end(prefix), revision=record.mod_revision) as batches:
            events = [*(await next_events(batches)).events]
            if len(events) < 2:
                events.extend((await next_events(batches)).events)

        assert [event.record for event in events] == [record, freed]
        assert [event.record.lease for event in events] == [lease, 0]
        assert events[1].previous == record

    async def test_a_put_with_an_unknown_lease_is_refused(self, kv: KV, prefix: bytes) -> None:
        with pytest.raises(LeaseNotFound):
            await kv.put(prefix + b"a", b"value", expected_mod_revision=0, lease=UNKNOWN_LEASE)

        assert await read(kv, prefix + b"a") is None

    async def test_a_lost_put_attaches_nothing(self, kv: KV, prefix: bytes) -> None:
        lease = await kv.grant_lease(1000)
        record = await create(kv, prefix + b"a")

        lost = await kv.put(record.key, b"two", expected_mod_revision=0, lease=lease)
        await kv.revoke_lease(lease)

        assert not lost.succeeded
        assert await read(kv, record.key) == record


class RevokeContract:
    async def test_revoking_deletes_all_keys_in_one_revision(self, kv: KV, prefix: bytes) -> None:
        lease = await kv.grant_lease(1000)
        records = [await create(kv, prefix + name, lease=lease) for name in (b"c", b"a", b"b")]
        stays = await create(kv, prefix + b"d")
        async with kv.watch(prefix, prefix_end(prefix), revision=stays.mod_revision + 1) as batches:
            await kv.revoke_lease(lease)

            batch = await next_events(batches)

        assert {event.type for event in batch.events} == {EventType.DELETE}
        assert {event.record.key for event in batch.events} == {record.key for record in records}
        assert {event.record.mod_revision for event in batch.events} == {batch.revision}
        assert {event.previous for event in batch.events} == set(records)
        assert await keys_of(kv, prefix) == [stays.key]
        assert len(await keys_of(kv, prefix, revision=batch.revision - 1)) == 4

    async def test_a_lease_is_revoked_once(self, kv: KV) -> None:
        lease = await kv.grant_lease(1000)
        await kv.revoke_lease(lease)

        with pytest.raises(LeaseNotFound):
            await kv.revoke_lease(lease)

    async def test_an_unknown_lease_cannot_be_revoked(self, kv: KV) -> None:
        with pytest.raises(LeaseNotFound):
            await kv.revoke_lease(UNKNOWN_LEASE)

    async def test_a_revoked_lease_takes_no_keys(self, kv: KV, prefix: bytes) -> None:
        lease = await kv.grant_lease(1000)
        await kv.revoke_lease(lease)

        with pytest.raises(LeaseNotFound):
            await kv.put(prefix + b"a", b"value", expected_mod_revision=0, lease=lease)

    async def test_a_put_without_a_lease_frees_the_key(self, kv: KV, prefix: bytes) -> None:
        lease = await kv.grant_lease(1000)
        freed = await update(kv, await create(kv, prefix + b"a", lease=lease))

        await kv.revoke_lease(lease)

        assert await read(kv, freed.key) == freed

    async def test_a_put_moves_the_key_to_another_lease(self, kv: KV, prefix: bytes) -> None:
        old, new = await kv.grant_lease(1000), await kv.grant_lease(1000)
        moved = await update(kv, await create(kv, prefix + b"a", lease=old), lease=new)

        await kv.revoke_lease(old)
        survivor = await read(kv, moved.key)
        await kv.revoke_lease(new)

        assert survivor == moved
        assert await read(kv, moved.key) is None

    async def test_a_put_with_the_same_lease_keeps_the_key_on_it(self, kv: KV, prefix: bytes) -> None:
        lease = await kv.grant_lease(1000)
        again = await update(kv, await create(kv, prefix + b"a", lease=lease), lease=lease)

        await kv.revoke_lease(lease)

        assert again.version == 2
        assert await read(kv, again.key) is None

    async def test_a_deleted_key_leaves_its_lease(self, kv: KV, prefix: bytes) -> None:
        lease = await kv.grant_lease(1000)
        await remove(kv, await create(kv, prefix + b"a", lease=lease))
        again = await create(kv, prefix + b"a")

        await kv.revoke_lease(lease)

        assert await read(kv, prefix + b"a") == again


class ExpiryContract:
    async def test_expiry_deletes_all_keys_of_the_lease_in_one_revision(
        self, kv: KV, prefix: bytes, elapse: Elapse
    ) -> None:
        lease = await kv.grant_lease(TTL)
        records = [await create(kv, prefix + name, lease=lease) for name in (b"a", b"b", b"c")]
        long_lease = await kv.grant_lease(1000)
        freed = await update(kv, await create(kv, prefix + b"d", lease=lease))
        others = [freed, await create(kv, prefix + b"e", lease=long_lease), await create(kv, prefix + b"f")]
        async with kv.watch(prefix, prefix_end(prefix), revision=others[-1].mod_revision + 1) as batches:
            await elapse(TTL)

            batch = await next_events(batches)

        assert {event.type for event in batch.events} == {EventType.DELETE}
        assert {event.previous for event in batch.events} == set(records)
        assert {event.record.mod_revision for event in batch.events} == {batch.revision}
        assert await keys_of(kv, prefix) == [record.key for record in others]
        with pytest.raises(LeaseNotFound):
            await kv.revoke_lease(lease)
        with pytest.raises(LeaseNotFound):
            await kv.put(prefix + b"g", b"value", expected_mod_revision=0, lease=lease)

    async def test_leases_expire_one_by_one(self, kv: KV, prefix: bytes, elapse: Elapse) -> None:
        late, early = await kv.grant_lease(TTL + 1), await kv.grant_lease(TTL)
        await create(kv, prefix + b"late", lease=late)
        last = await create(kv, prefix + b"early", lease=early)
        async with kv.watch(prefix, prefix_end(prefix), revision=last.mod_revision + 1) as batches:
            await elapse(TTL)
            first_gone = await next_events(batches)
            await elapse(1)
            then_gone = await next_events(batches)

        assert [event.record.key for event in first_gone.events] == [prefix + b"early"]
        assert [event.record.key for event in then_gone.events] == [prefix + b"late"]

    async def test_a_lease_lasts_as_long_as_it_was_granted_for(self, kv: KV, prefix: bytes, elapse: Elapse) -> None:
        record = await create(kv, prefix + b"a", lease=await kv.grant_lease(100))

        await elapse(99)

        await create(kv, prefix + b"b")
        assert await read(kv, record.key) == record
