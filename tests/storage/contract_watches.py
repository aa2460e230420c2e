"""The watches of the storage contract: what each change looks like, where a watch starts, and how it ends."""

import asyncio

import pytest

from aio_apiserver.storage.errors import KeyNotFound
from aio_apiserver.storage.interface import ListOptions, Storage, WatchEventType
from tests.storage.steps import (
    Elapse,
    Watcher,
    create,
    labelled,
    set_labels,
    set_spec,
    shape,
    shapes,
    widget,
    with_field,
)

ADDED, MODIFIED, DELETED, BOOKMARK = (
    WatchEventType.ADDED,
    WatchEventType.MODIFIED,
    WatchEventType.DELETED,
    WatchEventType.BOOKMARK,
)


class WatchEventContract:
    async def test_a_watch_shows_every_change_once_and_in_order(self, storage: Storage) -> None:
        before = await create(storage, "z")
        watcher = await Watcher.on(storage, resource_version=before.revision)
        created = await create(storage, "a", color="red")
        updated = await set_spec(storage, created, color="blue")
        deleted = await storage.delete("default/a")
        again = await create(storage, "a")

        events = await watcher.take(4)

        assert [(event.type, event.revision) for event in events] == [
            (ADDED, created.revision),
            (MODIFIED, updated.revision),
            (DELETED, deleted.revision),
            (ADDED, again.revision),
        ]
        assert [event.object.json for event in events if event.object] == [
            created.json,
            updated.json,
            deleted.json,
            again.json,
        ]
        watcher.stop()

    async def test_a_deletion_shows_the_last_state_under_its_revision(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")
        updated = await set_spec(storage, created, color="blue")
        watcher = await Watcher.on(storage, resource_version=updated.revision)
        deleted = await storage.delete("default/a")

        (event,) = await watcher.take(1)

        assert event.object is not None
        obj = event.object.decode()
        assert (event.type, obj["spec"]) == (DELETED, {"color": "blue"})
        assert obj["metadata"]["resourceVersion"] == str(deleted.revision)
        watcher.stop()

    async def test_an_update_that_changes_nothing_is_not_seen(self, storage: Storage) -> None:
        created = await create(storage, "a", color="red")
        watcher = await Watcher.on(storage, resource_version=created.revision)
        await set_spec(storage, created, color="red")
        await create(storage, "b")

        assert shapes(await watcher.take(1)) == [(ADDED, "default/b")]
        watcher.stop()

    async def test_a_watch_of_a_namespace_shows_that_namespace_only(self, storage: Storage) -> None:
        before = await create(storage, "z")
        watcher = await Watcher.on(storage, "default/", resource_version=before.revision)
        await create(storage, "a", namespace="default-2")
        await create(storage, "a", namespace="other")
        await create(storage, "a")

        assert shapes(await watcher.take(1)) == [(ADDED, "default/a")]
        watcher.stop()

    async def test_a_watch_of_one_key_shows_that_object_only(self, storage: Storage) -> None:
        before = await create(storage, "z")
        watcher = await Watcher.on(storage, "default/a", recursive=False, resource_version=before.revision)
        await create(storage, "a2")
        await set_spec(storage, await create(storage, "a"), color="red")
        await storage.delete("default/a")

        assert shapes(await watcher.take(3)) == [
            (ADDED, "default/a"),
            (MODIFIED, "default/a"),
            (DELETED, "default/a"),
        ]
        watcher.stop()

    async def test_watchers_do_not_disturb_each_other(self, storage: Storage) -> None:
        before = await create(storage, "z")
        watchers = [await Watcher.on(storage, resource_version=before.revision) for _ in range(3)]
        watchers[0].stop()
        created = await create(storage, "a")

        for watcher in watchers[1:]:
            assert [event.revision for event in await watcher.take(1)] == [created.revision]
            watcher.stop()


class SelectionContract:
    async def test_a_watch_shows_what_it_selects(self, storage: Storage) -> None:
        before = await create(storage, "z")
        watcher = await Watcher.on(storage, resource_version=before.revision, predicate=labelled(app="web"))
        await create(storage, "a", labels={"app": "db"})
        other = await create(storage, "b", labels={"app": "web"})
        await set_spec(storage, other, color="red")
        await storage.delete("default/a")
        await storage.delete("default/b")

        assert shapes(await watcher.take(3)) == [
            (ADDED, "default/b"),
            (MODIFIED, "default/b"),
            (DELETED, "default/b"),
        ]
        watcher.stop()

    async def test_what_enters_the_selection_is_added(self, storage: Storage) -> None:
        stored = await create(storage, "a", labels={"app": "db"})
        watcher = await Watcher.on(storage, resource_version=stored.revision, predicate=labelled(app="web"))
        entered = await set_labels(storage, stored, app="web")

        (event,) = await watcher.take(1)

        assert event.object is not None
        assert (event.type, event.object.json) == (ADDED, entered.json)
        watcher.stop()

    async def test_what_leaves_the_selection_is_deleted_in_its_last_selected_state(self, storage: Storage) -> None:
        stored = await create(storage, "a", labels={"app": "web"}, color="red")
        watcher = await Watcher.on(storage, resource_version=stored.revision, predicate=labelled(app="web"))
        left = await set_labels(storage, stored, app="db")
        await set_spec(storage, left, color="blue")
        await create(storage, "end", labels={"app": "web"})

        event, last = await watcher.take(2)

        assert event.object is not None
        obj = event.object.decode()
        assert (event.type, event.revision) == (DELETED, left.revision)
        assert (obj["metadata"]["labels"], obj["spec"]) == ({"app": "web"}, {"color": "red"})
        assert obj["metadata"]["resourceVersion"] == str(left.revision)
        assert shape(last) == (ADDED, "default/end")
        watcher.stop()

    async def test_fields_select_too(self, storage: Storage) -> None:
        before = await create(storage, "z")
        red = await Watcher.on(storage, resource_version=before.revision, predicate=with_field("spec.color", "red"))
        stored = await create(storage, "a", color="blue")
        await set_spec(storage, stored, color="red")
        await set_spec(storage, stored, color="green")
        await create(storage, "b", color="red")

        assert shapes(await red.take(3)) == [(ADDED, "default/a"), (DELETED, "default/a"), (ADDED, "default/b")]
        red.stop()


class StartContract:
    async def test_a_watch_from_a_revision_starts_behind_it(self, storage: Storage) -> None:
        first = await create(storage, "a")
        second = await set_spec(storage, first, color="red")
        third = await create(storage, "b")

        watcher = await Watcher.on(storage, resource_version=first.revision)

        assert [event.revision for event in await watcher.take(2)] == [second.revision, third.revision]
        watcher.stop()

    @pytest.mark.parametrize("resource_version", [None, 0])
    async def test_a_watch_from_no_revision_starts_with_the_state(
        self, storage: Storage, resource_version: int | None
    ) -> None:
        await create(storage, "b")
        await set_spec(storage, await create(storage, "a", color="red"), color="blue")
        await create(storage, "c")
        await storage.delete("default/c")
        await storage.get_list("", ListOptions())

        watcher = await Watcher.on(storage, resource_version=resource_version)
        events = await watcher.take(2)
        await create(storage, "d")

        assert sorted(shapes(events), key=str) == [(ADDED, "default/a"), (ADDED, "default/b")]
        assert {event.object.decode()["spec"].get("color") for event in events if event.object} == {None, "blue"}
        assert shapes(await watcher.take(1)) == [(ADDED, "default/d")]
        watcher.stop()

    async def test_the_state_is_selected_like_everything_else(self, storage: Storage) -> None:
        await create(storage, "a", labels={"app": "web"})
        await create(storage, "b", labels={"app": "db"})
        await create(storage, "a", namespace="other", labels={"app": "web"})

        watcher = await Watcher.on(storage, "default/", predicate=labelled(app="web"))
        first = await watcher.take(1)
        await create(storage, "c", labels={"app": "web"})

        assert shapes(first + await watcher.take(1)) == [(ADDED, "default/a"), (ADDED, "default/c")]
        watcher.stop()

    async def test_a_watch_of_one_key_starts_with_its_state(self, storage: Storage) -> None:
        await create(storage, "a")
        await create(storage, "a2")

        watcher = await Watcher.on(storage, "default/a", recursive=False)
        first = await watcher.take(1)
        await storage.delete("default/a")

        assert shapes(first + await watcher.take(1)) == [(ADDED, "default/a"), (DELETED, "default/a")]
        watcher.stop()

    @pytest.mark.parametrize("starts_at_first", [False, True])
    async def test_initial_events_end_with_a_bookmark(self, storage: Storage, starts_at_first: bool) -> None:
        first = await create(storage, "a")
        second = await create(storage, "b")

        watcher = await Watcher.on(
            storage,
            resource_version=first.revision if starts_at_first else None,
            send_initial_events=True,
            allow_bookmarks=True,
        )
        *state, bookmark = await watcher.take(3)

        assert sorted(shapes(state), key=str) == [(ADDED, "default/a"), (ADDED, "default/b")]
        assert (bookmark.type, bookmark.object, bookmark.ends_initial_events) == (BOOKMARK, None, True)
        assert bookmark.revision >= second.revision
        watcher.stop()

    async def test_initial_events_of_nothing_are_a_bookmark(self, storage: Storage) -> None:
        watcher = await Watcher.on(storage, send_initial_events=True, allow_bookmarks=True)

        (bookmark,) = await watcher.take(1)

        assert (bookmark.type, bookmark.ends_initial_events) == (BOOKMARK, True)
        watcher.stop()

    async def test_there_are_no_bookmarks_unless_they_are_allowed(self, storage: Storage) -> None:
        await create(storage, "a")

        watcher = await Watcher.on(storage, send_initial_events=True)
        state = await watcher.take(1)
        await create(storage, "b")

        assert shapes(state + await watcher.take(1)) == [(ADDED, "default/a"), (ADDED, "default/b")]
        watcher.stop()

    async def test_a_watch_from_the_future_waits_for_it(self, storage: Storage) -> None:
        first = await create(storage, "a")
        watcher = await Watcher.on(storage, resource_version=first.revision + 2)

        stored = first
        while stored.revision < first.revision + 3:
            stored = await set_spec(storage, stored, step=stored.revision)

        assert (await watcher.take(1))[0].revision == first.revision + 3
        watcher.stop()

    async def test_a_list_and_a_watch_leave_no_gap(self, storage: Storage) -> None:
        is_done = False

        async def write() -> None:
            for number in range(200):
                await create(storage, f"{number:03}")
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            writing = group.create_task(write())
            while not is_done:
                is_done = writing.done()
                listed = await storage.get_list("", ListOptions())
                watcher = await Watcher.on(storage, resource_version=listed.revision)
                seen = [item.key for item in listed.items]
                if len(seen) < 200:
                    seen.extend(event.object.key for event in await watcher.take(200 - len(seen)) if event.object)
                watcher.stop()

                assert seen == [f"default/{number:03}" for number in range(200)]


class EndContract:
    async def test_a_stopped_watch_ends_once_and_delivers_no_more(self, storage: Storage) -> None:
        created = await create(storage, "a")
        watcher = await Watcher.on(storage, resource_version=created.revision)
        await create(storage, "b")
        await watcher.take(1)

        watcher.stop()
        watcher.stop()
        other = await Watcher.on(storage, resource_version=created.revision)
        await create(storage, "c")
        await other.take(2)

        assert watcher.ends == [None]
        assert watcher.delivered_after_end == 0
        other.stop()

    async def test_a_watch_can_be_stopped_before_it_has_begun(self, storage: Storage) -> None:
        await create(storage, "a")

        watcher = await Watcher.on(storage)
        watcher.stop()

        assert await watcher.ended() is None
        assert watcher.delivered_after_end == 0

    async def test_closing_the_storage_ends_its_watches(self, storage: Storage) -> None:
        created = await create(storage, "a")
        watcher = await Watcher.on(storage, resource_version=created.revision)

        await storage.close()
        await storage.close()

        await watcher.ended()
        assert len(watcher.ends) == 1

    async def test_a_slow_sink_is_ended(self, storage: Storage, elapse: Elapse) -> None:
        created = await create(storage, "a")
        slow = await Watcher.on(storage, resource_version=created.revision, limit=3)
        fast = await Watcher.on(storage, resource_version=created.revision)
        names = [f"b{number}" for number in range(10)]
        for name in names:
            await create(storage, name)

        assert shapes(await fast.take(10)) == [(ADDED, f"default/{name}") for name in names]
        while not slow.ends:
            await elapse(1.0)
            await asyncio.sleep(0.001)

        assert await slow.ended() is None
        assert shapes(slow.events) == shapes(fast.events)[: len(slow.events)]
        assert slow.delivered_after_end == 0
        fast.stop()

    async def test_a_sink_that_catches_up_in_time_misses_nothing(self, storage: Storage, elapse: Elapse) -> None:
        created = await create(storage, "a")
        watcher = await Watcher.on(storage, resource_version=created.revision, limit=3)
        for number in range(10):
            await create(storage, f"b{number}")

        events = await watcher.take(2)
        while len(events) < 10:
            await elapse(0.1)
            events += await watcher.take(min(2, 10 - len(events)))

        assert shapes(events) == [(ADDED, f"default/b{number}") for number in range(10)]
        assert not watcher.ends
        watcher.stop()


class LifecycleContract:
    async def test_a_storage_is_ready_when_it_says_so(self, storage: Storage) -> None:
        await storage.wait_until_ready()

        with pytest.raises(KeyNotFound):
            await storage.get("default/a")

    async def test_statistics_are_facts_by_name(self, storage: Storage) -> None:
        await storage.create("default/a", widget("a"))

        assert all(isinstance(name, str) for name in storage.statistics())
