import asyncio

from storage.clock import ManualClock
from storage.kv.interface import EventType
from storage.kv.memory import MemoryKV

ALL = (b"a", b"z")


async def contents(kv: MemoryKV) -> dict[bytes, bytes]:
    return {record.key: record.value for record in (await kv.range(*ALL)).records}


async def test_restoring_brings_back_what_was_there() -> None:
    kv = MemoryKV()
    await kv.put(b"kept", b"1", expected_mod_revision=0)
    changed = await kv.put(b"changed", b"1", expected_mod_revision=0)
    deleted = await kv.put(b"deleted", b"1", expected_mod_revision=0)
    snapshot = kv.snapshot()
    await kv.put(b"changed", b"2", expected_mod_revision=changed.revision)
    await kv.delete(b"deleted", expected_mod_revision=deleted.revision)
    await kv.put(b"new", b"1", expected_mod_revision=0)

    kv.restore(snapshot)

    assert await contents(kv) == {b"kept": b"1", b"changed": b"1", b"deleted": b"1"}
    await kv.close()


async def test_restoring_goes_forward_and_leaves_alone_what_did_not_change() -> None:
    kv = MemoryKV()
    kept = await kv.put(b"kept", b"1", expected_mod_revision=0)
    snapshot = kv.snapshot()
    new = await kv.put(b"new", b"1", expected_mod_revision=0)

    revision = kv.restore(snapshot)

    found = (await kv.get(b"kept")).record
    assert revision == new.revision + 1
    assert found is not None
    assert found.mod_revision == kept.revision
    await kv.close()


async def test_a_watch_is_told_of_the_difference() -> None:
    kv = MemoryKV()
    first = await kv.put(b"again", b"1", expected_mod_revision=0)
    snapshot = kv.snapshot()
    await kv.delete(b"again", expected_mod_revision=first.revision)
    second = await kv.put(b"again", b"2", expected_mod_revision=0)

    async with kv.watch(*ALL, revision=second.revision + 1) as batches:
        kv.restore(snapshot)
        batch = await anext(batches)

    assert [event.type for event in batch.events] == [EventType.DELETE, EventType.PUT]
    assert [event.record.mod_revision for event in batch.events] == [second.revision + 1, second.revision + 2]
    await kv.close()


async def test_restoring_twice_writes_once() -> None:
    kv = MemoryKV()
    snapshot = kv.snapshot()
    await kv.put(b"new", b"1", expected_mod_revision=0)

    revision = kv.restore(snapshot)

    assert kv.restore(snapshot) == revision
    await kv.close()


async def test_what_has_expired_does_not_come_back() -> None:
    clock = ManualClock()
    kv = MemoryKV(clock=clock)
    lease = await kv.grant_lease(5)
    await kv.put(b"fleeting", b"1", expected_mod_revision=0, lease=lease)
    snapshot = kv.snapshot()
    await asyncio.sleep(0)
    clock.advance(5)
    await asyncio.sleep(0)

    kv.restore(snapshot)

    assert await contents(kv) == {}
    await kv.close()


async def test_another_store_begins_with_what_lasts() -> None:
    one, other = MemoryKV(), MemoryKV()
    await one.put(b"lasting", b"1", expected_mod_revision=0)
    await one.put(b"fleeting", b"1", expected_mod_revision=0, lease=await one.grant_lease(60))

    other.restore(one.snapshot().lasting())

    assert await contents(other) == {b"lasting": b"1"}
    await one.close()
    await other.close()
