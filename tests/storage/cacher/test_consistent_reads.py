"""Consistent reads: never older than earlier writes, from the cache where possible."""

import asyncio
import weakref

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.cacher.freshness import PATIENCE_SECONDS
from aio_apiserver.storage.errors import Closed, FutureRevision, KeyNotFound, Unavailable
from aio_apiserver.storage.interface import ListOptions, ResourceVersionMatch, Update
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.cacher.cachers import cacher_on, reads, some_turns
from tests.storage.cacher.troubled import Troubled
from tests.storage.steps import Elapse, create, in_time, set_spec, setting, while_time_goes_by
from tests.storage.stores import Interfered, store_on


async def test_a_get_of_a_cache_that_is_in_step_reads_nothing_from_the_store(cacher: Cacher, origin: Troubled) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.wait_until_ready()

    first = await cacher.get("default/a")
    second = await cacher.get("default/a")

    assert first is second
    assert first.json == created.json
    assert (origin.requests["get"], origin.requests["newest"]) == (0, 2)


async def test_a_get_on_a_store_that_knows_its_revision_needs_no_question(store: KVStore) -> None:
    async with cacher_on(store) as cacher:
        created = await create(cacher, "a", color="red")
        await cacher.wait_until_ready()
        await in_time(cacher.get_list("", ListOptions()))
        before = reads(cacher)

        found = await cacher.get("default/a")

        assert found.json == created.json
        after = reads(cacher)
        assert after["consistent_reads"] == before["consistent_reads"] + 1
        assert after["revision_checks"] == before["revision_checks"]


async def test_a_get_on_a_store_that_knows_its_revision_sees_the_writes_of_others(store: KVStore) -> None:
    async with cacher_on(store) as cacher:
        created = await create(cacher, "a", color="red")
        await cacher.wait_until_ready()
        updated = await set_spec(store, created, color="blue")

        found = await in_time(cacher.get("default/a"))

        assert found.json == updated.json


async def test_a_closed_cache_answers_no_get(store: KVStore) -> None:
    async with cacher_on(store) as cacher:
        await create(cacher, "a")
        await cacher.wait_until_ready()
        await cacher.get("default/a")
        await cacher.close()

        with pytest.raises(Closed):
            await cacher.get("default/a")


async def test_decoded_objects_of_a_cache_in_step_are_at_hand(cacher: Cacher) -> None:
    await create(cacher, "a")
    before = cacher.at_hand("")
    await cacher.get_list("", ListOptions())

    assert before is None
    present = [cacher.at_hand(key) or () for key in ("", "default/", "default/a")]
    assert [[one.key for one in found] for found in present] == [["default/a"], ["default/a"], ["default/a"]]
    assert cacher.at_hand("default/b") == ()
    assert cacher.at_hand("other/") == []


async def test_a_refused_update_of_a_cached_object_keeps_nothing_in_memory(cacher: Cacher) -> None:
    """Until a garbage collection, a cycle would keep the objects of the update."""
    await create(cacher, "a")
    await cacher.wait_until_ready()

    async def refuse(_current: StoredObject | None) -> Update:
        raise KeyNotFound("b")

    async def refused() -> "weakref.ref[Exception]":
        try:
            await cacher.guaranteed_update("default/a", refuse)
        except KeyNotFound as exc:
            return weakref.ref(exc)
        raise AssertionError("it was updated")

    assert (await refused())() is None


async def test_nothing_is_at_hand_while_a_write_of_this_server_is_on_its_way(cacher: Cacher, origin: Troubled) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.get_list("", ListOptions())
    origin.hold_events()
    await set_spec(cacher, created, color="blue")

    meanwhile = cacher.at_hand("default/a")
    origin.release_events()
    found = await in_time(cacher.get("default/a"))

    assert meanwhile is None
    assert cacher.at_hand("default/a") == (found,)


async def test_a_read_waits_for_events_that_are_on_their_way(cacher: Cacher, origin: Troubled) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.get_list("", ListOptions())
    origin.hold_events()
    updated = await set_spec(cacher, created, color="blue")

    reading = asyncio.ensure_future(cacher.get("default/a"))
    listing = asyncio.ensure_future(cacher.get_list("", ListOptions()))
    await some_turns()
    were_waiting = not reading.done() and not listing.done()
    origin.release_events()

    assert were_waiting
    assert (await in_time(reading)).json == updated.json
    assert [item.json for item in (await in_time(listing)).items] == [updated.json]
    assert origin.requests["get"] == 0


async def test_a_read_learns_that_nothing_of_this_resource_was_written(
    cacher: Cacher, memory_kv: MemoryKV, origin: Troubled
) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()
    other = await memory_kv.put(b"/registry/others/a", b"{}", expected_mod_revision=0)

    listed = await in_time(cacher.get_list("", ListOptions()))
    found = await in_time(cacher.get("default/a"))

    assert listed.revision == other.revision
    assert found.json == created.json
    assert origin.requests["request_progress"] == 1
    assert origin.requests["list"] == 1  # the reflector's


async def test_a_lost_request_for_progress_is_repeated(
    cacher: Cacher, memory_kv: MemoryKV, origin: Troubled, elapse: Elapse
) -> None:
    await cacher.wait_until_ready()
    await memory_kv.put(b"/registry/others/a", b"{}", expected_mod_revision=0)
    origin.answers_progress = False

    reading = asyncio.ensure_future(cacher.get_list("", ListOptions()))
    await some_turns()
    origin.answers_progress = True
    await elapse(0.11)
    await some_turns()
    await elapse(0.11)

    await in_time(reading)
    assert origin.requests["request_progress"] == 2
    assert reads(cacher)["fallbacks"] == 0


async def test_a_read_goes_to_the_store_when_the_cache_does_not_get_there(
    cacher: Cacher, origin: Troubled, elapse: Elapse
) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.get_list("", ListOptions())
    origin.hold_events()
    updated = await set_spec(cacher, created, color="blue")

    found = await while_time_goes_by(cacher.get("default/a"), elapse)
    listed = await while_time_goes_by(cacher.get_list("", ListOptions()), elapse)

    assert found.json == updated.json
    assert [item.json for item in listed.items] == [updated.json]
    assert reads(cacher)["fallbacks"] == 2


async def test_a_read_does_not_wait_for_a_cache_that_has_lost_the_store(cacher: Cacher, origin: Troubled) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.get_list("", ListOptions())
    await origin.break_watches(Unavailable("connection lost"))
    await some_turns()
    updated = await set_spec(cacher, created, color="blue")

    found = await in_time(cacher.get("default/a"))
    newer = await in_time(cacher.get("default/a", resource_version=updated.revision))

    assert found.json == newer.json == updated.json
    assert not cacher.statistics()["reflector"]["following"]


async def test_a_get_does_not_wait_for_events_of_other_objects(cacher: Cacher, origin: Troubled) -> None:
    created, other = await create(cacher, "a"), await create(cacher, "b", color="red")
    await cacher.get_list("", ListOptions())
    origin.hold_events()
    await set_spec(cacher, other, color="blue")
    await create(cacher, "c")

    found = await in_time(cacher.get("default/a"))
    with pytest.raises(KeyNotFound):
        await in_time(cacher.get("default/d"))

    assert found.json == created.json
    assert reads(cacher)["compared_reads"] == 2
    assert (reads(cacher)["waited_reads"], origin.requests["get"]) == (0, 0)


async def test_a_get_waits_for_the_deletion_of_its_object(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.get_list("", ListOptions())
    origin.hold_events()
    await cacher.delete("default/a")

    reading = asyncio.ensure_future(cacher.get("default/a"))
    await some_turns()
    was_waiting = not reading.done()
    origin.release_events()

    assert was_waiting
    with pytest.raises(KeyNotFound):
        await in_time(reading)


async def test_without_reliable_progress_a_cache_that_may_lag_is_not_asked(
    cacher: Cacher, memory_kv: MemoryKV, origin: Troubled
) -> None:
    origin.has_reliable_progress = origin.compares_objects = False
    created = await create(cacher, "a")
    await cacher.get_list("", ListOptions())
    await memory_kv.put(b"/registry/others/a", b"{}", expected_mod_revision=0)
    await memory_kv.request_progress()
    await some_turns()
    before = origin.requests["list"]

    listed = await in_time(cacher.get_list("", ListOptions()))
    await in_time(cacher.get("default/a"))
    newer = await in_time(cacher.get("default/a", resource_version=listed.revision))

    assert origin.requests["list"] == before + 1
    assert origin.requests["get"] == 2
    assert newer.json == created.json
    assert cacher.statistics()["revision"] == created.revision
    assert origin.requests["request_progress"] == 0


async def test_without_reliable_progress_a_get_compares_its_object(
    cacher: Cacher, memory_kv: MemoryKV, origin: Troubled
) -> None:
    origin.has_reliable_progress = False
    created = await create(cacher, "a")
    await cacher.get_list("", ListOptions())
    await memory_kv.put(b"/registry/others/a", b"{}", expected_mod_revision=0)

    found = await in_time(cacher.get("default/a"))

    assert found.json == created.json
    assert (origin.requests["get"], origin.requests["request_progress"]) == (0, 0)


async def test_without_reliable_progress_a_cache_that_is_in_step_answers_lists(
    cacher: Cacher, origin: Troubled
) -> None:
    origin.has_reliable_progress = False
    await create(cacher, "a")
    await cacher.wait_until_ready()
    before = origin.requests["list"]

    listed = await cacher.get_list("", ListOptions())

    assert [item.key for item in listed.items] == ["default/a"]
    assert origin.requests["list"] == before


async def test_any_version_is_whatever_is_there(cacher: Cacher, store: KVStore, origin: Troubled) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.get_list("", ListOptions())
    origin.hold_events()
    await set_spec(store, created, color="blue")
    origin.failure = Unavailable("no route to the store")

    found = await cacher.get("default/a", resource_version=0)
    listed = await cacher.get_list("", ListOptions(resource_version=0, limit=1))

    assert found.json == created.json
    assert [item.json for item in listed.items] == [created.json]


async def test_the_rest_of_a_list_of_any_version_comes_in_one_piece(cacher: Cacher) -> None:
    for name in "abcd":
        await create(cacher, name)
    first = await cacher.get_list("", ListOptions(limit=1))

    following = await cacher.get_list("", ListOptions(limit=1, continue_token=first.continue_token))
    rest = await cacher.get_list("", ListOptions(limit=1, continue_token=first.continue_token, resource_version=0))

    assert [item.key for item in following.items] == ["default/b"]
    assert ([item.key for item in rest.items], rest.continue_token) == (["default/b", "default/c", "default/d"], "")


async def test_no_read_is_older_than_what_this_server_has_written(cacher: Cacher, origin: Troubled) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.get_list("", ListOptions())
    origin.hold_events()
    updated = await set_spec(cacher, created, color="blue")

    reading = [
        asyncio.ensure_future(cacher.get("default/a", resource_version=version)) for version in (0, created.revision)
    ]
    await some_turns()
    were_waiting = not any(read.done() for read in reading)
    origin.release_events()

    assert were_waiting
    assert [item.json for item in await in_time(asyncio.gather(*reading))] == [updated.json] * 2


async def test_no_read_is_older_than_what_was_read_from_the_store(
    cacher: Cacher, store: KVStore, origin: Troubled, elapse: Elapse
) -> None:
    origin.has_reliable_progress = False
    created = await create(cacher, "a", color="red")
    await cacher.wait_until_ready()
    origin.hold_events()
    updated = await set_spec(store, created, color="blue")

    shown = await cacher.get_list("", ListOptions())
    later = await while_time_goes_by(cacher.get("default/a", resource_version=0), elapse)

    assert [item.json for item in shown.items] == [updated.json]
    assert later.json == updated.json


async def test_a_version_that_has_been_reached_is_not_asked_for(cacher: Cacher, origin: Troubled) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.failure = Unavailable("no route to the store")

    found = await cacher.get("default/a", resource_version=created.revision)
    listed = await cacher.get_list(
        "", ListOptions(resource_version=created.revision, match=ResourceVersionMatch.NOT_OLDER_THAN, limit=1)
    )

    assert found.json == created.json
    assert [item.json for item in listed.items] == [created.json]


async def test_a_version_of_the_future_is_refused_after_some_patience(
    cacher: Cacher, manual_clock: ManualClock, elapse: Elapse
) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()
    begun = manual_clock.monotonic()
    wanted = created.revision + 100

    for read in (
        cacher.get("default/a", resource_version=wanted),
        cacher.get_list("", ListOptions(resource_version=wanted)),
    ):
        with pytest.raises(
            FutureRevision, match=f"^Too large resource version: {wanted}, current: {created.revision}$"
        ):
            await while_time_goes_by(read, elapse)

    assert manual_clock.monotonic() - begun >= 2 * PATIENCE_SECONDS


async def test_a_version_of_the_near_future_is_waited_for(cacher: Cacher) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.wait_until_ready()

    reading = asyncio.ensure_future(cacher.get("default/a", resource_version=created.revision + 1))
    await some_turns()
    updated = await set_spec(cacher, created, color="blue")

    assert (await in_time(reading)).json == updated.json


async def test_lists_of_the_past_come_from_the_store(cacher: Cacher, origin: Troubled) -> None:
    first = await create(cacher, "a")
    await create(cacher, "b")
    page = await cacher.get_list("", ListOptions(limit=1))
    before = origin.requests["list"]

    exact = await cacher.get_list("", ListOptions(resource_version=first.revision, match=ResourceVersionMatch.EXACT))
    legacy = await cacher.get_list("", ListOptions(resource_version=first.revision, limit=5))
    rest = await cacher.get_list("", ListOptions(continue_token=page.continue_token, limit=1))

    assert [[item.key for item in result.items] for result in (exact, legacy, rest)] == [
        ["default/a"],
        ["default/a"],
        ["default/b"],
    ]
    assert origin.requests["list"] == before + 3
    assert before == 1


async def test_a_cache_knows_what_is_not_there(cacher: Cacher, origin: Troubled) -> None:
    await cacher.wait_until_ready()

    with pytest.raises(KeyNotFound):
        await cacher.get("default/a")
    assert origin.requests["get"] == 0


async def test_writes_begin_with_what_the_cache_has(memory_kv: MemoryKV, manual_clock: ManualClock) -> None:
    kv = Interfered(memory_kv)
    async with cacher_on(store_on(kv, clock=manual_clock), manual_clock) as cacher:
        created = await create(cacher, "a", color="red")
        await cacher.get_list("", ListOptions())
        before = kv.gets

        updated = await set_spec(cacher, created, color="blue")
        await cacher.get_list("", ListOptions())
        deleted = await cacher.delete("default/a", suggestion=created)

        assert updated.decode()["spec"] == deleted.decode()["spec"] == {"color": "blue"}
        assert kv.gets == before


async def test_a_suggestion_that_is_newer_than_the_cache_is_preferred(
    memory_kv: MemoryKV, manual_clock: ManualClock
) -> None:
    kv = Interfered(memory_kv)
    origin = Troubled(store_on(kv, clock=manual_clock))
    async with cacher_on(origin, manual_clock) as cacher:
        created = await create(cacher, "a", color="red")
        await cacher.get_list("", ListOptions())
        before = kv.gets
        origin.hold_events()
        newer = await set_spec(cacher, created, color="blue")

        await cacher.guaranteed_update("default/a", setting(size=1), suggestion=newer)

        assert kv.gets == before
        assert kv.puts == 3


async def test_statistics_tell_where_reads_went(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.get_list("", ListOptions())
    await cacher.get("default/a")

    assert reads(cacher) == {
        "consistent_reads": 2,
        "compared_reads": 0,
        "waited_reads": 0,
        "fallbacks": 0,
        "revision_checks": 2,
        "shared_checks": 0,
        "waiting": 0,
        "progress_requests": 0,
    }
