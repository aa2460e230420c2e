"""The embedded engine after a restart: all data is there."""

import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.errors import Compacted, LeaseNotFound
from aio_apiserver.storage.kv.interface import KV, Event, EventType
from aio_apiserver.storage.kv.sqlite import SqliteKV
from tests.storage.kv.sqlite_steps import count_rows, names_in, settle, size_of
from tests.storage.kv.steps import collect, create, keys_of, next_events, read, remove, update

Restart = Callable[[], Awaitable[SqliteKV]]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def restart(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Restart]:
    """Closes the engine that runs and opens the next one."""
    running: list[SqliteKV] = []

    async def restart() -> SqliteKV:
        for kv in running:
            await kv.close()
        running[:] = [await SqliteKV.open(tmp_path, clock=clock)]
        return running[0]

    yield restart
    for kv in running:
        await kv.close()


async def test_records_and_the_revision_are_there_again(restart: Restart) -> None:
    kv = await restart()
    first = await create(kv, b"/a", b"one")
    changed = await update(kv, first, b"two")
    await remove(kv, await create(kv, b"/b"))
    revision = await kv.current_revision()

    kv = await restart()

    assert await kv.current_revision() == revision == 5
    assert await read(kv, b"/a") == changed
    assert await keys_of(kv, b"/") == [b"/a"]
    assert (await create(kv, b"/c")).mod_revision == revision + 1


async def test_history_can_be_read_and_watched_as_before(restart: Restart) -> None:
    kv = await restart()
    first = await create(kv, b"/a", b"one")
    second = await update(kv, first, b"two")
    deletion = await remove(kv, second)
    before = await collect(kv, b"/", revision=2, until=deletion)

    kv = await restart()

    assert await collect(kv, b"/", revision=2, until=deletion) == before
    assert await read(kv, b"/a", revision=first.mod_revision) == first


async def test_the_compact_revision_stays(restart: Restart) -> None:
    kv = await restart()
    first = await create(kv, b"/a")
    second = await update(kv, first)
    await kv.compact(second.mod_revision)

    kv = await restart()

    with pytest.raises(Compacted):
        await kv.get(b"/a", revision=first.mod_revision)
    with pytest.raises(Compacted):
        await kv.compact(second.mod_revision)
    assert await read(kv, b"/a", revision=second.mod_revision) == second


async def test_the_revision_stays_when_compaction_has_taken_everything(restart: Restart) -> None:
    kv = await restart()
    for _ in range(10):
        deletion = await remove(kv, await create(kv, b"/a"))
    await kv.compact(deletion)

    kv = await restart()

    assert await kv.current_revision() == deletion
    assert (await create(kv, b"/a")).mod_revision == deletion + 1


async def test_removing_what_was_compacted_goes_on(restart: Restart, tmp_path: Path) -> None:
    kv = await restart()
    record = await create(kv, b"/a", bytes(100_000))
    for _ in range(100):
        record = await update(kv, record, bytes(100_000))
    await kv.compact(record.mod_revision)

    kv = await restart()

    await settle(kv)
    assert size_of(tmp_path) < 3_000_000
    assert await count_rows(kv, "records") == 2
    assert await read(kv, b"/a") == record


class TestLeases:
    async def test_a_lease_goes_on_with_what_it_had_left(self, restart: Restart, clock: ManualClock) -> None:
        kv = await restart()
        record = await create(kv, b"/a", lease=await kv.grant_lease(100))
        clock.advance(60)

        kv = await restart()
        clock.advance(39)
        alive = await read(kv, b"/a")
        event = await self._next_event(kv, record.mod_revision + 1, clock, 1)

        assert alive == record
        assert (event.type, event.previous) == (EventType.DELETE, record)

    async def test_a_lease_that_ended_meanwhile_ends_at_the_start(self, restart: Restart, clock: ManualClock) -> None:
        kv = await restart()
        lease = await kv.grant_lease(100)
        record = await create(kv, b"/a", lease=lease)
        await kv.close()
        clock.advance(1000)

        kv = await restart()
        event = await self._next_event(kv, record.mod_revision + 1, clock, 0)

        assert (event.type, event.previous) == (EventType.DELETE, record)
        with pytest.raises(LeaseNotFound):
            await kv.revoke_lease(lease)

    async def test_the_id_of_an_ended_lease_is_not_used_again(self, restart: Restart) -> None:
        kv = await restart()
        lease = await kv.grant_lease(100)
        await kv.revoke_lease(lease)

        kv = await restart()

        assert await kv.grant_lease(100) > lease

    async def test_a_lease_can_be_used_and_revoked(self, restart: Restart) -> None:
        kv = await restart()
        lease = await kv.grant_lease(100)
        await create(kv, b"/a", lease=lease)

        kv = await restart()
        await create(kv, b"/b", lease=lease)
        await kv.revoke_lease(lease)

        assert await keys_of(kv, b"/") == []

    async def test_a_lease_lives_no_longer_because_the_system_clock_was_set_back(
        self, restart: Restart, clock: ManualClock, tmp_path: Path
    ) -> None:
        kv = await restart()
        record = await create(kv, b"/a", lease=await kv.grant_lease(100))
        await kv.close()
        earlier = ManualClock(now=clock.now() - 1_000_000)

        kv = await SqliteKV.open(tmp_path, clock=earlier)
        event = await self._next_event(kv, record.mod_revision + 1, earlier, 100)

        assert event.previous == record
        await kv.close()

    async def _next_event(self, kv: KV, revision: int, clock: ManualClock, seconds: float) -> Event:
        async with kv.watch(b"/", b"0", revision=revision) as batches:
            clock.advance(seconds)
            (event,) = (await next_events(batches)).events
            return event


async def test_close_leaves_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())  # those of other tests may end meanwhile
    kv = await SqliteKV.open(tmp_path)
    await create(kv, b"/a")
    await read(kv, b"/a")
    await keys_of(kv, b"/")
    assert set(threading.enumerate()) - before

    await kv.close()

    assert not set(threading.enumerate()) - before


async def test_a_closed_store_is_one_file_without_a_log(tmp_path: Path) -> None:
    kv = await SqliteKV.open(tmp_path)
    await create(kv, b"/a")

    await kv.close()

    assert names_in(tmp_path) == {"lock", "store.db"}
