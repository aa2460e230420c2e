"""Reflector: the cache follows the store through all faults of the connection."""

import asyncio

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.cacher import READY_SECONDS, Cacher
from aio_apiserver.storage.cacher.reflector import LONGEST_PAUSE, PAGE
from aio_apiserver.storage.errors import Closed, Corrupt, Initializing, RevisionExpired, Unavailable
from aio_apiserver.storage.interface import ListOptions
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.store import KVStore
from tests.storage.cacher.cachers import some_turns
from tests.storage.cacher.troubled import Troubled
from tests.storage.steps import Elapse, Watcher, create, in_time, keys, labelled, set_spec, while_time_goes_by


async def wait_until_following(cacher: Cacher, clock: ManualClock) -> None:
    """Let time pass until the reflector watches the store again."""
    for _ in range(100):
        await some_turns()
        if cacher.statistics()["reflector"]["following"]:
            return
        clock.advance(0.5)
    raise AssertionError("the reflector does not come back")


async def test_nothing_is_read_before_somebody_asks(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await some_turns()

    assert origin.requests == {"create": 1}


async def test_a_cache_is_filled_once_for_all_who_wait(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")

    lists = await in_time(asyncio.gather(*(cacher.get_list("", ListOptions()) for _ in range(5))))

    assert [[item.key for item in result.items] for result in lists] == [["default/a"]] * 5
    assert (origin.requests["list"], origin.requests["watch"]) == (1, 1)


async def test_a_large_resource_is_listed_in_pages_that_at_most_double(cacher: Cacher, origin: Troubled) -> None:
    for number in range(3 * PAGE + 1):
        await create(cacher, f"{number:05}")

    await cacher.wait_until_ready()

    assert await cacher.count() == 3 * PAGE + 1
    assert origin.requests["list"] == 3


async def test_a_get_does_not_wait_for_the_cache(cacher: Cacher, origin: Troubled) -> None:
    created = await create(cacher, "a")
    origin.list_door.shut()

    found = await in_time(cacher.get("default/a"))
    count = await in_time(cacher.count())
    await origin.list_door.wait_for_somebody()
    origin.list_door.open()

    assert found.json == created.json
    assert count == 1
    assert (origin.requests["get"], origin.requests["count"]) == (1, 1)


async def test_who_waits_in_vain_learns_why(cacher: Cacher, origin: Troubled, elapse: Elapse) -> None:
    origin.failure = Unavailable("no route to the store")

    for request in (cacher.wait_until_ready(), cacher.get_list("", ListOptions()), Watcher.on(cacher)):
        with pytest.raises(Initializing, match=r"^storage is \(re\)initializing: no route to the store$"):
            await while_time_goes_by(request, elapse)
    assert not cacher.statistics()["ready"]


async def test_who_waits_for_a_slow_list_is_told_after_a_while(
    cacher: Cacher, origin: Troubled, manual_clock: ManualClock, elapse: Elapse
) -> None:
    origin.list_door.shut()

    with pytest.raises(Initializing, match=r"^storage is \(re\)initializing$"):
        await while_time_goes_by(cacher.wait_until_ready(), elapse)
    waited = manual_clock.monotonic()
    origin.list_door.open()
    await in_time(cacher.wait_until_ready())

    assert READY_SECONDS <= waited <= READY_SECONDS + 2


async def test_a_store_that_comes_late_is_found(cacher: Cacher, origin: Troubled, elapse: Elapse) -> None:
    await create(cacher, "a")
    origin.failure = Unavailable("no route to the store")
    with pytest.raises(Initializing):
        await while_time_goes_by(cacher.wait_until_ready(), elapse)

    origin.failure = None

    await while_time_goes_by(cacher.wait_until_ready(), elapse)
    assert await keys(cacher) == ["default/a"]


async def test_a_list_that_expires_under_its_reader_is_made_again(
    cacher: Cacher, origin: Troubled, elapse: Elapse
) -> None:
    await create(cacher, "a")
    origin.failing_lists = [RevisionExpired("compacted between two pages")]

    await while_time_goes_by(cacher.wait_until_ready(), elapse)

    assert await keys(cacher) == ["default/a"]


async def test_a_broken_watch_is_resumed_and_no_watcher_notices(
    cacher: Cacher, store: KVStore, origin: Troubled, manual_clock: ManualClock
) -> None:
    first = await create(cacher, "a")
    await cacher.wait_until_ready()
    watcher = await Watcher.on(cacher, resource_version=first.revision)
    before = origin.requests["list"]

    await origin.break_watches(Unavailable("connection lost"))
    second = await create(store, "b")
    third = await store.delete("default/a")
    await wait_until_following(cacher, manual_clock)

    assert [event.revision for event in await watcher.take(2)] == [second.revision, third.revision]
    assert watcher.ends == []
    assert origin.requests["list"] == before
    assert cacher.statistics()["reflector"]["watches"] == 2


async def test_events_that_were_on_the_way_come_once(
    cacher: Cacher, origin: Troubled, manual_clock: ManualClock
) -> None:
    first = await create(cacher, "a")
    await cacher.wait_until_ready()
    watcher = await Watcher.on(cacher, resource_version=first.revision)
    origin.hold_events()
    second = await create(cacher, "b")
    await some_turns()

    await origin.break_watches(None)
    await wait_until_following(cacher, manual_clock)
    third = await create(cacher, "c")

    assert [event.revision for event in await watcher.take(2)] == [second.revision, third.revision]


async def lose_history(cacher: Cacher, store: KVStore, origin: Troubled, kv: MemoryKV) -> int:
    """Break the cache's watch, write, and compact its revision away. Returns the newest revision."""
    await origin.break_watches(Unavailable("connection lost"))
    await create(store, "b")
    newest = await create(store, "c")
    await kv.compact(newest.revision)
    return newest.revision


async def test_lost_history_is_listed_again_and_ends_the_watches(
    cacher: Cacher, store: KVStore, origin: Troubled, memory_kv: MemoryKV, manual_clock: ManualClock
) -> None:
    first = await create(cacher, "a")
    await cacher.wait_until_ready()
    watcher = await Watcher.on(cacher, resource_version=first.revision)

    newest = await lose_history(cacher, store, origin, memory_kv)
    await wait_until_following(cacher, manual_clock)

    assert await watcher.ended() is None
    assert watcher.events == []
    assert await keys(cacher) == ["default/a", "default/b", "default/c"]
    with pytest.raises(RevisionExpired, match=rf"^too old resource version: {first.revision} \({newest}\)$"):
        await Watcher.on(cacher, resource_version=first.revision)
    assert cacher.statistics()["reflector"]["relists"] == 1


async def test_what_was_deleted_while_history_was_lost_is_gone(
    cacher: Cacher, store: KVStore, origin: Troubled, memory_kv: MemoryKV, manual_clock: ManualClock
) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    await origin.break_watches(None)
    await store.delete("default/a")
    await lose_history(cacher, store, origin, memory_kv)

    await wait_until_following(cacher, manual_clock)

    assert await keys(cacher, resource_version=0) == ["default/b", "default/c"]


async def test_the_cache_shows_what_it_has_while_it_lists_again(
    cacher: Cacher, store: KVStore, origin: Troubled, memory_kv: MemoryKV, manual_clock: ManualClock
) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    await lose_history(cacher, store, origin, memory_kv)
    origin.list_door.shut()
    while not origin.list_door.waiting:
        manual_clock.advance(0.5)
        await some_turns()

    at_hand = await in_time(cacher.get("default/a", resource_version=0))
    newest = await in_time(cacher.get("default/c"))
    origin.list_door.open()

    assert at_hand.key == "default/a"
    assert newest.key == "default/c"


async def test_a_list_that_is_older_than_what_was_shown_is_not_taken(
    cacher: Cacher, store: KVStore, origin: Troubled, memory_kv: MemoryKV, manual_clock: ManualClock
) -> None:
    first = await create(cacher, "a", color="red")
    old_list = await store.get_list("", ListOptions())
    shown = await set_spec(cacher, first, color="blue")
    await cacher.wait_until_ready()
    await lose_history(cacher, store, origin, memory_kv)
    origin.old_list = old_list

    seen = []
    while not cacher.statistics()["reflector"]["relists"]:
        manual_clock.advance(0.5)
        await some_turns()
        seen.append(await cacher.get("default/a", resource_version=0))

    assert cacher.statistics()["reflector"]["refused_lists"] == 1
    assert {item.json for item in seen} == {shown.json}
    assert await keys(cacher) == ["default/a", "default/b", "default/c"]


async def test_the_pauses_between_attempts_grow_to_a_limit(
    cacher: Cacher, origin: Troubled, manual_clock: ManualClock
) -> None:
    await cacher.wait_until_ready()
    origin.failure = Unavailable("no route to the store")
    await origin.break_watches(None)

    attempts = []
    for _ in range(600):
        manual_clock.advance(0.1)
        await some_turns()
        attempts.append(origin.requests["watch"])
    early, late = attempts[99] - attempts[0], attempts[599] - attempts[499]

    assert 3 <= early <= 8
    assert 1 <= late <= 10 / (0.8 * LONGEST_PAUSE) + 1


async def test_an_event_that_cannot_be_read_does_not_stop_the_others(
    cacher: Cacher, origin: Troubled, manual_clock: ManualClock
) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()

    await origin.break_watches(Corrupt("default/a", "wrong key"))
    await create(cacher, "b")
    await wait_until_following(cacher, manual_clock)

    assert await keys(cacher) == ["default/a", "default/b"]


async def test_a_store_that_is_closed_ends_everything(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    watcher = await Watcher.on(cacher, resource_version=0)

    await origin.break_watches(Closed("the store is closed"))
    reason = await watcher.ended()

    assert isinstance(reason, Closed)
    with pytest.raises(Closed):
        await cacher.get_list("", ListOptions())


async def test_a_closed_cache_refuses_everything(cacher: Cacher) -> None:
    await cacher.wait_until_ready()

    await cacher.close()

    for request in (
        cacher.get("default/a"),
        cacher.get_list("", ListOptions()),
        cacher.count(),
        Watcher.on(cacher),
        cacher.wait_until_ready(),
    ):
        with pytest.raises(Closed):
            await request


async def test_closing_ends_those_who_wait(cacher: Cacher, origin: Troubled) -> None:
    created = await create(cacher, "a")
    origin.list_door.shut()
    filling = asyncio.ensure_future(cacher.get_list("", ListOptions()))
    await origin.list_door.wait_for_somebody()
    origin.list_door.open()
    await in_time(filling)
    waiting = asyncio.ensure_future(cacher.get("default/a", resource_version=created.revision + 1))
    late = await Watcher.on(cacher, resource_version=created.revision + 9, send_initial_events=True)
    await some_turns()

    await cacher.close()

    with pytest.raises(Closed):
        await in_time(waiting)
    assert late.ends == [None]


async def test_closing_ends_those_who_wait_for_the_first_list(cacher: Cacher, origin: Troubled) -> None:
    origin.list_door.shut()
    waiting = asyncio.ensure_future(cacher.wait_until_ready())
    await origin.list_door.wait_for_somebody()

    await cacher.close()

    with pytest.raises(Closed):
        await in_time(waiting)


async def test_a_watch_that_is_overtaken_is_followed_by_a_list_at_once(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    following = await Watcher.on(cacher, send_initial_events=True, skips_gaps=True)

    await origin.break_watches(RevisionExpired("too old"))
    await some_turns()
    newest = await create(cacher, "b")

    assert (await in_time(following.take_until(newest.revision)))[-1].revision == newest.revision
    assert cacher.statistics()["reflector"]["relists"] == 1


async def test_a_list_in_pages_says_what_cannot_be_read_though_the_cache_is_never_filled(
    cacher: Cacher, origin: Troubled, elapse: Elapse, caplog: pytest.LogCaptureFixture
) -> None:
    origin.failure = Corrupt("default/a", "it is encrypted with another key")
    with pytest.raises(Initializing, match="another key"):
        await while_time_goes_by(cacher.get_list("", ListOptions()), elapse)

    with pytest.raises(Corrupt, match="another key"):
        await in_time(cacher.get_list("", ListOptions(limit=500)))
    with pytest.raises(Initializing, match="another key"):
        await while_time_goes_by(cacher.get_list("", ListOptions(limit=500, predicate=labelled(a="b"))), elapse)
    assert set(caplog.messages) == {
        "cache: an object of widgets.example.com cannot be read, trying again: "
        "data of default/a cannot be read: it is encrypted with another key"
    }
