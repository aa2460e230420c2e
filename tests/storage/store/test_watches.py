"""Watches: lost history, future revisions, failing engines, and slow sinks."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.errors import Closed, RevisionExpired
from aio_apiserver.storage.interface import WatchEventType, WatchOptions
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.watching import WatchQueue
from tests.storage.steps import (
    Watcher,
    create,
    in_time,
    labelled,
    set_labels,
    set_spec,
    shapes,
)
from tests.storage.stores import store_on

ADDED, MODIFIED, DELETED = WatchEventType.ADDED, WatchEventType.MODIFIED, WatchEventType.DELETED


@pytest.fixture
async def store(memory_kv: MemoryKV, manual_clock: ManualClock) -> AsyncIterator[KVStore]:
    store = store_on(memory_kv, clock=manual_clock)
    yield store
    await store.close()


async def turns(count: int = 50) -> None:
    """Run all tasks that are ready."""
    for _ in range(count):
        await asyncio.sleep(0)


class TestLostHistory:
    async def test_a_deletion_whose_last_state_is_gone_ends_the_watch(
        self, store: KVStore, memory_kv: MemoryKV
    ) -> None:
        created = await create(store, "a")
        deleted = await store.delete("default/a")
        await memory_kv.compact(deleted.revision)

        watcher = await Watcher.on(store, resource_version=created.revision)

        assert isinstance(await watcher.ended(), RevisionExpired)
        assert watcher.events == []

    async def test_an_update_whose_last_state_is_gone_is_seen_by_a_watch_of_everything(
        self, store: KVStore, memory_kv: MemoryKV
    ) -> None:
        created = await create(store, "a", color="red")
        updated = await set_spec(store, created, color="blue")
        await memory_kv.compact(updated.revision)

        watcher = await Watcher.on(store, resource_version=created.revision)

        assert shapes(await watcher.take(1)) == [(MODIFIED, "default/a")]
        watcher.stop()

    async def test_an_update_whose_last_state_is_gone_ends_a_watch_with_a_selection(
        self, store: KVStore, memory_kv: MemoryKV
    ) -> None:
        created = await create(store, "a", labels={"app": "web"})
        updated = await set_labels(store, created, app="db")
        await memory_kv.compact(updated.revision)

        watcher = await Watcher.on(store, resource_version=created.revision, predicate=labelled(app="web"))

        assert isinstance(await watcher.ended(), RevisionExpired)

    async def test_history_that_goes_while_a_sink_is_slow_ends_the_watch(
        self, store: KVStore, memory_kv: MemoryKV, manual_clock: ManualClock
    ) -> None:
        before = await create(store, "z")
        watcher = await Watcher.on(store, resource_version=before.revision, limit=2)
        await turns()
        for number in range(10):
            last = await create(store, f"a{number}")
        await watcher.take(1)
        await memory_kv.compact(last.revision)

        await watcher.take(2)
        while not watcher.ends:
            manual_clock.advance(0.1)
            await asyncio.sleep(0)

        assert isinstance(await watcher.ended(), RevisionExpired)
        assert shapes(watcher.events) == [(ADDED, f"default/a{number}") for number in range(len(watcher.events))]


class TestStart:
    async def test_initial_events_from_the_future_wait_for_it(self, store: KVStore, manual_clock: ManualClock) -> None:
        stored = await create(store, "a", color="red")
        watcher = await Watcher.on(
            store, resource_version=stored.revision + 2, send_initial_events=True, allow_bookmarks=True
        )
        await turns()
        for color in ("green", "blue"):
            assert watcher.events == []
            stored = await set_spec(store, stored, color=color)
        manual_clock.advance(1)

        state, bookmark = await watcher.take(2)

        assert state.object is not None
        assert state.object.decode()["spec"] == {"color": "blue"}
        assert (bookmark.ends_initial_events, bookmark.revision) == (True, stored.revision)
        watcher.stop()

    async def test_a_watch_from_the_last_possible_revision_waits(self, store: KVStore) -> None:
        await create(store, "a")
        watcher = await Watcher.on(store, resource_version=2**63 - 1)
        await create(store, "b")
        await turns()

        assert (watcher.events, watcher.ends) == ([], [])
        watcher.stop()

    async def test_initial_events_are_one_state_whatever_is_written_meanwhile(self, store: KVStore) -> None:
        for number in range(600):
            await create(store, f"{number:03}")
        watcher = await Watcher.on(store)
        await asyncio.sleep(0)
        deleted = await store.delete("default/599")
        created = await create(store, "new")

        events = await watcher.take(602)

        assert shapes(events[:600]) == [(ADDED, f"default/{number:03}") for number in range(600)]
        assert [(event.type, event.revision) for event in events[600:]] == [
            (DELETED, deleted.revision),
            (ADDED, created.revision),
        ]
        watcher.stop()


class TestEnd:
    async def test_an_engine_that_was_closed_ends_the_watch(self, store: KVStore, memory_kv: MemoryKV) -> None:
        created = await create(store, "a")
        watcher = await Watcher.on(store, resource_version=created.revision)
        await turns()

        await memory_kv.close()

        assert isinstance(await watcher.ended(), Closed)

    async def test_a_sink_may_stop_its_watch_while_it_is_given_something(self, store: KVStore) -> None:
        class StopsAtOnce(Watcher):
            def deliver(self, batch: object) -> None:
                super().deliver(batch)  # type: ignore[arg-type]
                self.stop()

        created = await create(store, "a")
        watcher = await StopsAtOnce.on(store, resource_version=created.revision)
        await turns()
        await create(store, "b")
        await create(store, "c")
        await watcher.ended()
        await turns()

        assert shapes(watcher.events) == [(ADDED, "default/b")]
        assert (watcher.ends, watcher.delivered_after_end) == ([None], 0)

    async def test_a_store_forgets_watches_that_have_ended(self, store: KVStore) -> None:
        created = await create(store, "a")
        watchers = [await Watcher.on(store, resource_version=created.revision) for _ in range(5)]
        for watcher in watchers:
            watcher.stop()
        await turns()

        assert store.statistics()["watches"] == {"running": 0, "delivered_events": 0, "ended_as_slow": 0}


class TestSlowSinks:
    async def test_a_slow_sink_holds_back_its_watch_until_it_has_caught_up(
        self, store: KVStore, manual_clock: ManualClock
    ) -> None:
        created = await create(store, "a")
        watcher = await Watcher.on(store, resource_version=created.revision, limit=2)
        await turns()
        for number in range(10):
            await create(store, f"b{number}")
        await turns()
        held_back = watcher.backlog

        await watcher.take(3)
        manual_clock.advance(0.1)
        await turns()

        assert (held_back, watcher.backlog) == (3, 3)
        watcher.stop()

    async def test_a_sink_that_stays_slow_is_counted(self, store: KVStore, manual_clock: ManualClock) -> None:
        created = await create(store, "a")
        watcher = await Watcher.on(store, resource_version=created.revision, limit=2)
        for number in range(10):
            await create(store, f"b{number}")
        while not watcher.ends:
            await asyncio.sleep(0)
            manual_clock.advance(0.5)

        assert manual_clock.monotonic() >= 5.0
        assert watcher.ends == [None]
        assert store.statistics()["watches"]["ended_as_slow"] == 1


class TestWatchQueue:
    async def test_a_queue_yields_events_until_the_watch_ends(self, store: KVStore) -> None:
        queue = WatchQueue()
        watch = await store.watch("", WatchOptions(resource_version=1), queue)
        seen = []

        async def read() -> None:
            async for event in queue:
                seen.append(event)
                if len(seen) == 2:
                    watch.stop()

        reading = asyncio.create_task(read())
        await create(store, "a")
        await create(store, "b")
        await in_time(reading)

        assert shapes(seen) == [(ADDED, "default/a"), (ADDED, "default/b")]

    async def test_a_queue_raises_what_the_watch_ended_with(self, store: KVStore, memory_kv: MemoryKV) -> None:
        queue = WatchQueue()
        await store.watch("", WatchOptions(resource_version=1), queue)
        await turns()
        await memory_kv.close()

        async def read() -> None:
            async for _ in queue:
                pass

        with pytest.raises(Closed):
            await in_time(read())
