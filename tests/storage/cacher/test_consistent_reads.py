"""Consistent reads: never older than earlier writes, from the cache where possible, one revision check for many."""

import asyncio
from collections.abc import Sequence

import pytest

from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.cacher.freshness import PATIENCE_SECONDS
from aio_apiserver.storage.clock import ManualClock
from aio_apiserver.storage.errors import FutureRevision, KeyNotFound, Unavailable
from aio_apiserver.storage.interface import ListOptions, ResourceVersionMatch
from aio_apiserver.storage.kv.interface import MOST_COMPARED
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.cacher.cachers import cacher_on
from tests.storage.cacher.troubled import Troubled
from tests.storage.steps import Elapse, create, in_time, set_spec, setting, while_time_goes_by
from tests.storage.stores import Interfered, store_on


async def some_turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def reads(cacher: Cacher) -> dict[str, int]:
    statistics: dict[str, int] = cacher.statistics()["reads"]
    return statistics


async def test_a_get_of_a_cache_that_is_in_step_reads_nothing_from_the_store(cacher: Cacher, origin: Troubled) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.wait_until_ready()

    first = await cacher.get("default/a")
    second = await cacher.get("default/a")

    assert first is second
    assert first.json == created.json
    assert (origin.requests["get"], origin.requests["newest"]) == (0, 2)


async def test_decoded_objects_of_a_cache_in_step_are_at_hand(cacher: Cacher) -> None:
    await create(cacher, "a")
    before = cacher.at_hand("")
    await cacher.get_list("", ListOptions())

    assert before is None
    present = [cacher.at_hand(key) or () for key in ("", "default/", "default/a")]
    assert [[one.key for one in found] for found in present] == [["default/a"], ["default/a"], ["default/a"]]
    assert cacher.at_hand("default/b") == ()
    assert cacher.at_hand("other/") == []


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


async def test_those_who_ask_in_one_turn_share_a_question_beside_the_first(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.check_door.shut()

    first = asyncio.ensure_future(cacher.get("default/a"))
    await origin.check_door.wait_for_somebody()
    others = [asyncio.ensure_future(cacher.get("default/a")) for _ in range(10)]
    await some_turns()
    asked = origin.requests["newest"]
    origin.check_door.open()
    await in_time(asyncio.gather(first, *others))

    assert asked == 2
    assert origin.requests["newest"] == 2
    assert reads(cacher)["shared_checks"] == 9


async def _readers_one_by_one(cacher: Cacher, count: int) -> Sequence["asyncio.Future[StoredObject]"]:
    """Readers that each have asked, or wait to ask, before the next one comes."""
    readers = []
    for _ in range(count):
        readers.append(asyncio.ensure_future(cacher.get("default/a")))
        await some_turns()
    return readers


async def test_those_who_ask_while_two_questions_are_under_way_share_the_next(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.check_door.shut()

    first_two = await _readers_one_by_one(cacher, 2)
    others = await _readers_one_by_one(cacher, 10)
    asked = origin.requests["newest"]
    origin.check_door.open()
    await in_time(asyncio.gather(*first_two, *others))

    assert asked == 2
    assert origin.requests["newest"] == 3
    assert reads(cacher)["shared_checks"] == 9


async def test_an_answer_from_before_a_write_is_not_given_to_who_comes_after_it(
    cacher: Cacher, origin: Troubled
) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.wait_until_ready()
    origin.hold_events()
    origin.check_door.shut()

    early = asyncio.ensure_future(cacher.get("default/a"))  # its question has been answered, the answer is on its way
    await origin.check_door.wait_for_somebody()
    updated = await set_spec(cacher, created, color="blue")
    late = asyncio.ensure_future(cacher.get("default/a"))
    origin.check_door.open()
    before = await in_time(early)
    await some_turns()
    was_waiting = not late.done()
    origin.release_events()

    assert before.json == created.json
    assert was_waiting
    assert (await in_time(late)).json == updated.json


async def test_a_reader_that_gives_up_does_not_take_the_others_with_it(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.check_door.shut()
    readers = [asyncio.ensure_future(cacher.get("default/a")) for _ in range(3)]
    await origin.check_door.wait_for_somebody()
    await some_turns()

    readers[0].cancel()
    readers[1].cancel()
    await some_turns()
    origin.check_door.open()

    assert (await in_time(readers[2])).key == "default/a"
    assert [reader.cancelled() for reader in readers] == [True, True, False]


async def test_a_failing_question_fails_all_who_asked_it(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.check_door.shut()
    first_two = await _readers_one_by_one(cacher, 2)
    others = await _readers_one_by_one(cacher, 2)

    origin.failure = Unavailable("no route to the store")
    origin.check_door.open()
    outcomes = await in_time(asyncio.gather(*first_two, *others, return_exceptions=True))
    origin.failure = None

    expected = [StoredObject, StoredObject, Unavailable, Unavailable]
    assert [type(outcome) for outcome in outcomes] == expected
    assert (await cacher.get("default/a")).key == "default/a"


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


async def test_readers_of_many_objects_are_compared_in_one_request(cacher: Cacher, origin: Troubled) -> None:
    names = [f"n{number}" for number in range(2 * MOST_COMPARED)]
    for name in names:
        await create(cacher, name)
    await cacher.get_list("", ListOptions())
    origin.check_door.shut()

    first = asyncio.ensure_future(cacher.get("default/n0"))
    await origin.check_door.wait_for_somebody()
    others = [asyncio.ensure_future(cacher.get(f"default/{name}")) for name in names]
    await some_turns()
    origin.check_door.open()
    found = await in_time(asyncio.gather(first, *others))

    assert [one.key for one in found] == [f"default/{name}" for name in ["n0", *names]]
    assert origin.requests["newest"] == 3  # the list's, the first reader's, and that of all others


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
