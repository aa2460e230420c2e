"""The contract suite of the kv engines: every sentence of storage/kv/interface.py as tests.

An engine's test module subclasses KVContract, and its `kv` fixture makes the engine:

    class TestMemoryKV(KVContract, EmptyStoreContract, ExactCompactionContract):
        @pytest.fixture
        async def kv(self, clock): ...

The store behind `kv` may hold keys of other tests and have any revision. Two tests may not use it at the same time,
because a compaction concerns all keys. Tests of KVContract write below their own `prefix`, and may close `kv`.
EmptyStoreContract needs a new store, SharedStoreContract a second engine on the same store.
"""

import os

import pytest

from aio_apiserver.storage.errors import Compacted, FutureRevision, LeaseNotFound
from aio_apiserver.storage.kv.interface import KV, Event, EventType, prefix_end
from tests.storage.kv import (
    contract_compaction,
    contract_leases,
    contract_lifecycle,
    contract_reads,
    contract_watch_flow,
    contract_watches,
    contract_writes,
)
from tests.storage.kv.contract_compaction import ExactCompactionContract
from tests.storage.kv.steps import Elapse, create, next_events, read, remove, take, update

__all__ = ["Elapse", "EmptyStoreContract", "ExactCompactionContract", "KVContract", "SharedStoreContract"]


class KVFixtures:
    """Fixtures of all contracts. Subclasses override `kv`, and `elapse` where the engine's clock is held."""

    @pytest.fixture
    async def kv(self) -> KV:
        """An engine on a store that works; closed when the test has ended."""
        raise NotImplementedError

    @pytest.fixture
    def prefix(self) -> bytes:
        """The test's own part of the store."""
        return b"/contract/%s/" % os.urandom(8).hex().encode()

    @pytest.fixture
    def elapse(self) -> Elapse:
        """Let time pass for the engine. Here real time passes: tests wait for the effect."""

        async def elapse(_seconds: float) -> None:
            return

        return elapse


class KVContract(
    contract_reads.GetContract,
    contract_reads.RangeContract,
    contract_reads.RangeAtRevisionContract,
    contract_writes.PutContract,
    contract_writes.DeleteContract,
    contract_writes.ValueContract,
    contract_writes.RaceContract,
    contract_watches.WatchEventContract,
    contract_watches.WatchStartContract,
    contract_watches.WatchRangeContract,
    contract_watch_flow.WatchOrderContract,
    contract_watch_flow.WatchEndContract,
    contract_watch_flow.ProgressContract,
    contract_compaction.CompactionContract,
    contract_compaction.CompactionUnderWatchContract,
    contract_leases.LeaseContract,
    contract_leases.RevokeContract,
    contract_leases.ExpiryContract,
    contract_lifecycle.LifecycleContract,
    KVFixtures,
):
    """The contract of every engine on every store."""


class EmptyStoreContract(KVFixtures):
    """The contract of a store that no other client writes to: absolute revisions."""

    async def test_an_empty_store_is_at_revision_one(self, kv: KV) -> None:
        result = await kv.range(b"\x00", b"\xff")

        assert (list(result.records), result.revision) == ([], 1)
        assert await kv.current_revision() == 1

    async def test_the_first_write_is_revision_two(self, kv: KV) -> None:
        record = await create(kv, b"a")

        assert record.mod_revision == 2
        assert await kv.current_revision() == 2
        assert kv.known_revision() in (None, 2)
        assert await read(kv, b"a", revision=1) is None

    async def test_the_revision_after_the_current_is_future(self, kv: KV) -> None:
        await create(kv, b"a")

        with pytest.raises(FutureRevision):
            await kv.get(b"a", revision=3)
        with pytest.raises(FutureRevision):
            await kv.compact(3)

    async def test_each_effective_write_takes_one_revision(self, kv: KV) -> None:
        first = await create(kv, b"a")
        second = await update(kv, first)
        other = await create(kv, b"b")
        deletion = await remove(kv, second)

        assert [first.mod_revision, second.mod_revision, other.mod_revision, deletion] == [2, 3, 4, 5]
        assert await kv.current_revision() == 5

    async def test_what_has_no_effect_takes_no_revision(self, kv: KV) -> None:
        record = await create(kv, b"a")
        await kv.put(b"a", b"lost", expected_mod_revision=0)
        await kv.delete(b"b", expected_mod_revision=2)
        await kv.revoke_lease(await kv.grant_lease(1000))
        with pytest.raises(LeaseNotFound):
            await kv.put(b"b", b"value", expected_mod_revision=0, lease=4711)
        await kv.compact(record.mod_revision)
        await kv.request_progress()

        assert await kv.current_revision() == record.mod_revision

    async def test_the_end_of_a_lease_takes_one_revision(self, kv: KV) -> None:
        lease = await kv.grant_lease(1000)
        for name in (b"a", b"b", b"c"):
            last = await create(kv, name, lease=lease)

        await kv.revoke_lease(lease)

        assert await kv.current_revision() == last.mod_revision + 1

    async def test_a_watch_from_revision_one_sees_everything(self, kv: KV) -> None:
        first = await create(kv, b"a")
        second = await update(kv, first)

        async with kv.watch(b"\x00", b"\xff", revision=1) as batches:
            assert await take(batches, 2) == [
                Event(EventType.PUT, first, None),
                Event(EventType.PUT, second, first),
            ]

    async def test_a_progress_tells_the_revision_of_the_store(self, kv: KV) -> None:
        async with kv.watch(b"a", b"b", revision=2) as batches:
            elsewhere = await create(kv, b"c")
            batch = None
            while batch is None or batch.revision < elsewhere.mod_revision:
                await kv.request_progress()
                batch = await anext(batches)

        assert (batch.is_progress, batch.revision) == (True, 2)


class SharedStoreContract(KVFixtures):
    """The contract of two engines on one store: replicas of a server on one etcd."""

    @pytest.fixture
    async def other(self) -> KV:
        """A second engine on the store of `kv`."""
        raise NotImplementedError

    async def test_one_reads_what_the_other_wrote(self, kv: KV, other: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")

        assert await read(other, record.key) == record
        assert await other.current_revision() >= record.mod_revision
        assert (other.known_revision() or record.mod_revision) >= record.mod_revision

    async def test_one_loses_against_the_other(self, kv: KV, other: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")
        changed = await update(other, record)

        lost = await kv.put(record.key, b"lost", expected_mod_revision=record.mod_revision)

        assert (lost.succeeded, lost.record) == (False, changed)

    async def test_one_watches_what_the_other_writes(self, kv: KV, other: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a")
        async with kv.watch(prefix, prefix_end(prefix), revision=first.mod_revision) as batches:
            second = await update(other, first)
            third = await update(kv, second)
            deletion = await remove(other, third)

            events = await take(batches, 4)

        assert [event.previous for event in events] == [None, first, second, third]
        assert events[-1].record.mod_revision == deletion

    async def test_one_reads_the_past_until_the_other_compacts_it(self, kv: KV, other: KV, prefix: bytes) -> None:
        first = await create(kv, prefix + b"a", b"one")
        second = await update(kv, first, b"two")
        before = await read(kv, first.key, revision=first.mod_revision)

        await other.compact(second.mod_revision)

        assert before == first
        with pytest.raises(Compacted):
            await kv.get(first.key, revision=first.mod_revision)

    async def test_one_uses_and_ends_the_leases_of_the_other(self, kv: KV, other: KV, prefix: bytes) -> None:
        lease = await kv.grant_lease(1000)
        record = await create(other, prefix + b"a", lease=lease)
        async with kv.watch(prefix, prefix_end(prefix), revision=record.mod_revision + 1) as batches:
            await other.revoke_lease(lease)

            (event,) = (await next_events(batches)).events

        assert (event.type, event.previous) == (EventType.DELETE, record)

    async def test_closing_one_does_not_disturb_the_other(self, kv: KV, other: KV, prefix: bytes) -> None:
        revision = await kv.current_revision() + 1
        async with kv.watch(prefix, prefix_end(prefix), revision=revision) as batches:
            await other.close()
            record = await create(kv, prefix + b"a")

            assert [event.record for event in await take(batches, 1)] == [record]
