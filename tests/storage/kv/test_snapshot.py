import asyncio

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.errors import Compacted
from aio_apiserver.storage.kv.interface import EventType
from aio_apiserver.storage.kv.memory import MemoryKV

ALL = (b"a", b"z")
MANY = [b"many/%04d" % number for number in range(1_001)]
"""More changes than a restore sends to watches as events."""


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
    one = MemoryKV()
    await one.put(b"lasting", b"1", expected_mod_revision=0)
    await one.put(b"fleeting", b"1", expected_mod_revision=0, lease=await one.grant_lease(60))

    other = MemoryKV(beginning=one.snapshot())

    assert await contents(other) == {b"lasting": b"1"}
    await one.close()
    await other.close()


async def put_all(kv: MemoryKV, *keys: bytes, lease: int = 0) -> int:
    revision = 0
    for key in keys:
        revision = (await kv.put(key, b"1", expected_mod_revision=0, lease=lease)).revision
    return revision


async def test_much_comes_back_under_new_revisions_and_makes_no_history() -> None:
    kv = MemoryKV()
    await put_all(kv, *MANY, b"kept")
    snapshot = kv.snapshot()
    for key in MANY:
        found = (await kv.get(key)).record
        assert found is not None
        await kv.delete(key, expected_mod_revision=found.mod_revision)
    last = await kv.current_revision()

    revision = kv.restore(snapshot)

    again = (await kv.get(MANY[0])).record
    assert again is not None
    assert (again.value, again.version) == (b"1", 1)
    assert last < again.mod_revision < revision
    assert (await kv.range(*ALL, count_only=True)).count == len(MANY) + 1
    assert {name: kv.statistics()[name] for name in ("past_records", "revisions_with_events")} == {
        "past_records": 0,
        "revisions_with_events": 0,
    }
    await kv.close()


async def test_who_would_be_told_too_much_has_to_read_again_and_others_are_told() -> None:
    kv = MemoryKV()
    snapshot = kv.snapshot()
    last = await put_all(kv, *MANY, b"few")

    async with (
        kv.watch(b"many/", b"many0", revision=last + 1) as much,
        kv.watch(MANY[0], MANY[0] + b"\0", revision=last + 1) as one_of_many,
        kv.watch(b"few", b"few\0", revision=last + 1) as few,
        kv.watch(b"other", b"other\0", revision=last + 1) as other,
    ):
        revision = kv.restore(snapshot)
        told = await anext(few)
        for overtaken in (much, one_of_many):
            with pytest.raises(Compacted):
                await anext(overtaken)
        await put_all(kv, b"other")
        (next_event,) = (await anext(other)).events

    assert [event.type for event in told.events] == [EventType.DELETE]
    assert next_event.record.mod_revision == revision + 1
    assert await contents(kv) == {b"other": b"1"}
    await kv.close()


async def test_a_watch_from_the_revision_of_a_great_restore_misses_nothing() -> None:
    kv = MemoryKV()
    snapshot = kv.snapshot()
    last = await put_all(kv, *MANY)
    revision = kv.restore(snapshot)
    await put_all(kv, b"new")

    async with kv.watch(*ALL, revision=revision + 1) as batches:
        batch = await anext(batches)
    async with kv.watch(*ALL, revision=last + 1) as too_old:
        with pytest.raises(Compacted):
            await anext(too_old)

    assert [event.record.key for event in batch.events] == [b"new"]
    await kv.close()


async def test_leases_know_what_is_theirs_behind_a_great_restore() -> None:
    clock = ManualClock()
    kv = MemoryKV(clock=clock)
    lease = await kv.grant_lease(5)
    await put_all(kv, *MANY, lease=lease)
    snapshot = kv.snapshot()
    for key in MANY:
        found = (await kv.get(key)).record
        assert found is not None
        await kv.put(key, b"2", expected_mod_revision=found.mod_revision)

    kv.restore(snapshot)
    await asyncio.sleep(0)
    clock.advance(5)
    await asyncio.sleep(0)

    assert await contents(kv) == {}
    await kv.close()
