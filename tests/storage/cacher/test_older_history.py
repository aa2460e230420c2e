"""OlderHistory: a watch from before the cache's first list gets the changes that the store still has."""

import asyncio

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.errors import RevisionExpired, Unavailable
from aio_apiserver.storage.interface import ListOptions, WatchEventType
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store import past_changes
from aio_apiserver.storage.store.store import KVStore
from tests.storage.cacher.troubled import Troubled
from tests.storage.steps import Watcher, create, labelled, set_labels, set_spec, shapes, with_field
from tests.storage.stores import PREFIX

ADDED, MODIFIED, DELETED = WatchEventType.ADDED, WatchEventType.MODIFIED, WatchEventType.DELETED


async def test_a_watch_from_before_the_first_list_sees_every_change_once_and_in_order(
    cacher: Cacher, store: KVStore
) -> None:
    first = await create(store, "a", color="red")
    await set_spec(store, first, color="blue")
    await create(store, "b")
    gone = await store.delete("default/b")
    await cacher.wait_until_ready()

    watcher = await Watcher.on(cacher, resource_version=first.revision)
    later = await create(cacher, "c")
    events = await watcher.take(4)

    assert shapes(events) == [
        (MODIFIED, "default/a"),
        (ADDED, "default/b"),
        (DELETED, "default/b"),
        (ADDED, "default/c"),
    ]
    assert [event.revision for event in events[2:]] == [gone.revision, later.revision]


async def test_a_selection_sees_what_enters_and_leaves_it_before_the_first_list(cacher: Cacher, store: KVStore) -> None:
    first = await create(store, "a", color="red", labels={"tier": "front"})
    second = await create(store, "b", color="blue", labels={"tier": "back"})
    await set_labels(store, first, tier="back")
    await set_spec(store, second, color="red")
    await cacher.wait_until_ready()

    front = await Watcher.on(cacher, resource_version=first.revision, predicate=labelled(tier="front"))
    red = await Watcher.on(cacher, resource_version=first.revision, predicate=with_field("spec.color", "red"))

    assert shapes(await front.take(1)) == [(DELETED, "default/a")]
    assert shapes(await red.take(2)) == [(MODIFIED, "default/a"), (ADDED, "default/b")]


async def test_changes_that_the_store_has_compacted_have_expired(
    cacher: Cacher, store: KVStore, memory_kv: MemoryKV, origin: Troubled
) -> None:
    first = await create(store, "a")
    second = await create(store, "b")
    third = await create(store, "c")
    await memory_kv.compact(second.revision)
    await cacher.wait_until_ready()

    for _ in range(3):
        with pytest.raises(RevisionExpired, match=rf"^too old resource version: {first.revision} \({third.revision}\)"):
            await Watcher.on(cacher, resource_version=first.revision)
    asked = origin.requests["past_changes"]
    watcher = await Watcher.on(cacher, resource_version=second.revision)

    assert asked == 1
    assert shapes(await watcher.take(1)) == [(ADDED, "default/c")]


async def test_many_watches_share_the_reads_of_history(cacher: Cacher, store: KVStore, origin: Troubled) -> None:
    revisions = [(await create(store, f"{number:02}")).revision for number in range(20)]
    await cacher.wait_until_ready()

    watchers = await asyncio.gather(*(Watcher.on(cacher, resource_version=one) for one in revisions[:-1]))
    taken = [await watcher.take(19 - number) for number, watcher in enumerate(watchers)]

    assert [[event.revision for event in events] for events in taken] == [revisions[n + 1 :] for n in range(19)]
    assert origin.requests["past_changes"] == 1


async def test_changes_that_are_too_many_have_expired(cacher: Cacher, store: KVStore, memory_kv: MemoryKV) -> None:
    first = await create(store, "a")
    key, revision = PREFIX.encode() + b"default/a", first.revision
    present = (await memory_kv.get(key)).record
    assert present is not None
    for _ in range(past_changes.MOST + 1):
        written = await memory_kv.put(key, present.value, expected_mod_revision=revision)
        revision = written.revision
    await cacher.wait_until_ready()

    with pytest.raises(RevisionExpired):
        await Watcher.on(cacher, resource_version=first.revision)
    watcher = await Watcher.on(cacher, resource_version=revision - 10)

    assert cacher.statistics()["window"]["floor"] == revision - 10
    watcher.stop()


async def test_a_watch_that_is_only_behind_the_window_has_expired(
    cacher: Cacher, origin: Troubled, manual_clock: ManualClock
) -> None:
    await cacher.wait_until_ready()
    first = await create(cacher, "a")
    for number in range(150):
        await set_spec(cacher, first, color=str(number))
        await cacher.get_list("", ListOptions())
        manual_clock.advance(60)

    with pytest.raises(RevisionExpired):
        await Watcher.on(cacher, resource_version=first.revision)
    assert origin.requests["past_changes"] == 0


async def test_a_store_without_reliable_progress_is_not_asked(cacher: Cacher, store: KVStore, origin: Troubled) -> None:
    first = await create(store, "a")
    await create(store, "b")
    await cacher.wait_until_ready()
    origin.has_reliable_progress = False

    with pytest.raises(RevisionExpired):
        await Watcher.on(cacher, resource_version=first.revision)

    assert origin.requests["past_changes"] == 0


async def test_a_store_that_is_gone_for_a_moment_is_asked_again(
    cacher: Cacher, store: KVStore, origin: Troubled
) -> None:
    first = await create(store, "a")
    second = await create(store, "b")
    await cacher.wait_until_ready()
    origin.failure = Unavailable("no route to the store")

    with pytest.raises(RevisionExpired):
        await Watcher.on(cacher, resource_version=first.revision)
    origin.failure = None
    watcher = await Watcher.on(cacher, resource_version=first.revision)

    assert [event.revision for event in await watcher.take(1)] == [second.revision]
