"""The start of a watch on a Cacher: its initial state, and the changes after it without gap or repetition."""

import asyncio

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.yielding import MAX_STEPS
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.errors import RevisionExpired, Unavailable
from aio_apiserver.storage.interface import ListOptions, WatchEventType
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.store import KVStore
from tests.storage.cacher.cachers import some_turns
from tests.storage.cacher.troubled import Troubled
from tests.storage.steps import Elapse, Watcher, create, in_time, labelled, set_spec, shapes, with_field

ADDED, BOOKMARK = WatchEventType.ADDED, WatchEventType.BOOKMARK


async def test_a_watch_without_a_version_begins_with_the_newest_state(cacher: Cacher, origin: Troubled) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.get_list("", ListOptions())
    origin.hold_events()
    updated = await set_spec(cacher, created, color="blue")

    starting = asyncio.ensure_future(Watcher.on(cacher))
    await some_turns()
    was_waiting = not starting.done()
    origin.release_events()
    (event,) = await (await in_time(starting)).take(1)

    assert was_waiting
    assert event.object is not None
    assert (event.type, event.object.json) == (ADDED, updated.json)


async def test_a_watch_of_any_version_begins_with_what_is_there(
    cacher: Cacher, store: KVStore, origin: Troubled
) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.get_list("", ListOptions())
    origin.hold_events()
    updated = await set_spec(store, created, color="blue")

    watcher = await Watcher.on(cacher, resource_version=0)
    state = await watcher.take(1)
    origin.release_events()
    changes = await watcher.take(1)

    assert [event.revision for event in state + changes] == [created.revision, updated.revision]


async def test_the_state_of_a_cache_that_has_lost_the_store_is_the_stores(
    cacher: Cacher, store: KVStore, origin: Troubled, manual_clock: ManualClock
) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    await origin.break_watches(Unavailable("connection lost"))
    await some_turns()
    second = await create(store, "b")

    watcher = await Watcher.on(cacher, send_initial_events=True, allow_bookmarks=True)
    *state, bookmark = await watcher.take(3)
    third = await create(store, "c")
    manual_clock.advance(1)
    changes = await watcher.take(1)

    assert shapes(state) == [(ADDED, "default/a"), (ADDED, "default/b")]
    assert (bookmark.ends_initial_events, bookmark.revision) == (True, second.revision)
    assert [event.revision for event in changes] == [third.revision]


async def test_without_reliable_progress_a_watch_begins_with_the_stores_state(
    cacher: Cacher, memory_kv: MemoryKV, origin: Troubled
) -> None:
    origin.has_reliable_progress = False
    await create(cacher, "a")
    await cacher.wait_until_ready()
    other = await memory_kv.put(b"/registry/others/a", b"{}", expected_mod_revision=0)

    watcher = await Watcher.on(cacher, send_initial_events=True, allow_bookmarks=True)
    *state, bookmark = await watcher.take(2)
    second = await create(cacher, "b")
    changes = await watcher.take(1)

    assert shapes(state) == [(ADDED, "default/a")]
    assert bookmark.revision == other.revision
    assert [event.revision for event in changes] == [second.revision]


async def test_initial_events_of_the_future_are_waited_for(cacher: Cacher, elapse: Elapse) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()

    watcher = await Watcher.on(
        cacher, resource_version=created.revision + 2, send_initial_events=True, allow_bookmarks=True
    )
    for _ in range(10):
        await elapse(1)
        await some_turns()
    nothing = list(watcher.events)
    await create(cacher, "b")
    await create(cacher, "c")
    for _ in range(10):
        await elapse(1)
        await some_turns()
    *state, bookmark = await watcher.take(4)

    assert nothing == []
    assert shapes(state) == [(ADDED, "default/a"), (ADDED, "default/b"), (ADDED, "default/c")]
    assert (bookmark.ends_initial_events, bookmark.revision) == (True, created.revision + 2)


async def test_initial_events_of_the_future_end_with_what_goes_wrong_meanwhile(
    cacher: Cacher, origin: Troubled, elapse: Elapse
) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()
    watcher = await Watcher.on(cacher, resource_version=created.revision + 5, send_initial_events=True)
    await some_turns()

    origin.failure = Unavailable("no route to the store")
    await origin.break_watches(None)
    for _ in range(10):
        await elapse(1)
        await some_turns()

    assert isinstance(await watcher.ended(), Unavailable)


async def test_a_watch_that_waits_for_its_state_can_be_stopped(cacher: Cacher, elapse: Elapse) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()
    watcher = await Watcher.on(cacher, resource_version=created.revision + 1, send_initial_events=True)

    watcher.stop()
    await create(cacher, "b")
    await elapse(5)
    await some_turns()

    assert (watcher.ends, watcher.events) == ([None], [])


async def test_the_end_of_a_long_state_is_marked_where_it_ends(cacher: Cacher) -> None:
    count = 2 * MAX_STEPS
    for number in range(count):
        await create(cacher, f"{number:05}")
    listed = await cacher.get_list("", ListOptions())

    watcher = await Watcher.on(cacher, send_initial_events=True, allow_bookmarks=True)
    changed = await create(cacher, "x")
    events = await watcher.take(count + 2)

    assert [event.type for event in events] == [ADDED] * count + [BOOKMARK, ADDED]
    assert (events[count].ends_initial_events, events[count].revision) == (True, listed.revision)
    assert events[-1].revision == changed.revision


async def test_a_state_is_selected_through_its_index(cacher: Cacher) -> None:
    for name, color in (("a", "red"), ("b", "blue"), ("c", "red")):
        await create(cacher, name, color=color)

    watcher = await Watcher.on(cacher, predicate=with_field("spec.color", "red"))
    state = await watcher.take(2)

    assert shapes(state) == [(ADDED, "default/a"), (ADDED, "default/c")]


async def test_a_watch_from_before_a_compacted_history_has_expired(cacher: Cacher, memory_kv: MemoryKV) -> None:
    first = await create(cacher, "a")
    second = await create(cacher, "b")
    await memory_kv.compact(second.revision)

    with pytest.raises(RevisionExpired, match=rf"^too old resource version: {first.revision} \({second.revision}\)$"):
        await Watcher.on(cacher, resource_version=first.revision)
    assert cacher.statistics()["watches"]["watchers"] == 0


async def test_a_watch_that_starts_while_the_cache_is_closed_ends(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.check_door.shut()
    starting = asyncio.ensure_future(Watcher.on(cacher))
    await origin.check_door.wait_for_somebody()

    await cacher.close()
    origin.check_door.open()
    watcher = await in_time(starting)

    assert watcher.ends == [None]


async def test_watches_of_the_same_share_a_group(cacher: Cacher) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()

    watchers = [
        await Watcher.on(cacher, "default/", resource_version=created.revision, predicate=labelled(app="web"))
        for _ in range(3)
    ]
    named = [
        await Watcher.on(cacher, "default/", resource_version=created.revision, predicate=with_field(name, value))
        for name, value in (("metadata.name", "a"), ("spec.color", "red"))
    ]

    assert cacher.statistics()["watches"]["groups"] == 3
    assert cacher.statistics()["watches"]["members"] == len(watchers) + len(named)
    for watcher in (*watchers, *named):
        watcher.stop()
    assert cacher.statistics()["watches"]["groups"] == 0
