"""Bookmarks: which watchers get them, when, and with which revision."""

import asyncio

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.bookmarks import LAST_SECONDS, PERIOD_SECONDS
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.interface import WatchEventType
from aio_apiserver.storage.kv.memory import MemoryKV
from tests.storage.cacher.troubled import Troubled
from tests.storage.steps import Watcher, create

BOOKMARK = WatchEventType.BOOKMARK


async def pass_time(clock: ManualClock, seconds: float) -> None:
    for _ in range(round(seconds)):
        clock.advance(1)
        for _ in range(10):
            await asyncio.sleep(0)


def bookmarks(watcher: Watcher) -> list[int]:
    return [event.revision for event in watcher.events if event.type is BOOKMARK]


async def test_a_quiet_watch_is_told_about_once_a_minute(cacher: Cacher, manual_clock: ManualClock) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()
    watcher = await Watcher.on(cacher, resource_version=created.revision, allow_bookmarks=True)

    await pass_time(manual_clock, PERIOD_SECONDS / 2)
    early = bookmarks(watcher)
    await pass_time(manual_clock, 5 * PERIOD_SECONDS)

    assert early == []
    assert 5 <= len(bookmarks(watcher)) <= 7
    assert cacher.statistics()["watches"]["bookmarks"] == len(bookmarks(watcher))


async def test_a_watch_is_told_shortly_before_its_end(cacher: Cacher, manual_clock: ManualClock) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()
    watcher = await Watcher.on(
        cacher, resource_version=created.revision, allow_bookmarks=True, ends_in=PERIOD_SECONDS / 2
    )

    await pass_time(manual_clock, PERIOD_SECONDS / 2 - LAST_SECONDS - 1)
    early = bookmarks(watcher)
    await pass_time(manual_clock, LAST_SECONDS)

    assert (early, bookmarks(watcher)) == ([], [created.revision])


async def test_who_does_not_allow_bookmarks_gets_none(cacher: Cacher, manual_clock: ManualClock) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()
    watcher = await Watcher.on(cacher, resource_version=created.revision)

    await pass_time(manual_clock, 3 * PERIOD_SECONDS)

    assert watcher.events == []


async def test_a_bookmark_is_as_new_as_the_store_though_other_resources_were_written(
    cacher: Cacher, memory_kv: MemoryKV, manual_clock: ManualClock
) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()
    watcher = await Watcher.on(cacher, resource_version=created.revision, allow_bookmarks=True)
    other = await memory_kv.put(b"/registry/others/a", b"{}", expected_mod_revision=0)

    await pass_time(manual_clock, PERIOD_SECONDS + 2)

    assert bookmarks(watcher) == [other.revision]


async def test_bookmarks_are_never_older_than_events(cacher: Cacher, manual_clock: ManualClock) -> None:
    created = await create(cacher, "start")
    await cacher.wait_until_ready()
    watchers = [await Watcher.on(cacher, resource_version=created.revision, allow_bookmarks=True) for _ in range(10)]

    for number in range(200):
        await create(cacher, f"{number}")
        manual_clock.advance(1)
        await asyncio.sleep(0)
    await pass_time(manual_clock, PERIOD_SECONDS)

    for watcher in watchers:
        revisions = [event.revision for event in watcher.events]
        assert revisions == sorted(revisions)
        assert len(bookmarks(watcher)) >= 3


async def test_a_watch_that_is_behind_gets_no_bookmark(cacher: Cacher, manual_clock: ManualClock) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()
    future = await Watcher.on(cacher, resource_version=created.revision + 5, allow_bookmarks=True)

    await pass_time(manual_clock, 2 * PERIOD_SECONDS)
    for number in range(6):
        await create(cacher, f"b{number}")
    await pass_time(manual_clock, 2 * PERIOD_SECONDS)

    assert future.events[0].revision == created.revision + 6
    assert set(bookmarks(future)) == {created.revision + 6}


async def test_without_reliable_progress_bookmarks_carry_what_events_have_told(
    cacher: Cacher, origin: Troubled, memory_kv: MemoryKV, manual_clock: ManualClock
) -> None:
    origin.has_reliable_progress = False
    created = await create(cacher, "a")
    await cacher.wait_until_ready()
    watcher = await Watcher.on(cacher, resource_version=created.revision, allow_bookmarks=True)
    await memory_kv.put(b"/registry/others/a", b"{}", expected_mod_revision=0)
    await memory_kv.request_progress()

    await pass_time(manual_clock, PERIOD_SECONDS + 2)

    assert bookmarks(watcher) == [created.revision]
    assert origin.requests["request_progress"] == 0


async def test_nothing_runs_when_nobody_wants_bookmarks_any_more(
    cacher: Cacher, origin: Troubled, manual_clock: ManualClock
) -> None:
    created = await create(cacher, "a")
    await cacher.wait_until_ready()
    watcher = await Watcher.on(cacher, resource_version=created.revision, allow_bookmarks=True)
    watcher.stop()
    await pass_time(manual_clock, 2)

    await pass_time(manual_clock, 2 * PERIOD_SECONDS)
    again = await Watcher.on(cacher, resource_version=created.revision, allow_bookmarks=True)
    await pass_time(manual_clock, PERIOD_SECONDS)

    assert bookmarks(watcher) == []
    assert len(bookmarks(again)) == 1
    assert origin.requests["request_progress"] == 1
