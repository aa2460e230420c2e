"""Contention: many writers of one key, in one process and in several; races, unknown outcomes, giving up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from aio_apiserver.base.clock import ManualClock, SystemClock
from aio_apiserver.storage.errors import DeadlineExceeded, KeyExists, KeyNotFound, LeaseNotFound, TooManyConflicts
from aio_apiserver.storage.interface import Update
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.changes import MAX_ATTEMPTS
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.kv import steps as kv_steps
from tests.storage.steps import create, in_time, set_spec, setting, unchanged, while_time_goes_by, widget
from tests.storage.stores import Interfered, raw_key, store_on


@pytest.fixture
def kv(memory_kv: MemoryKV) -> Interfered:
    return Interfered(memory_kv)


@pytest.fixture
async def store(kv: Interfered, manual_clock: ManualClock) -> AsyncIterator[KVStore]:
    store = store_on(kv, clock=manual_clock)
    yield store
    await store.close()


@pytest.fixture
async def other(memory_kv: MemoryKV, manual_clock: ManualClock) -> AsyncIterator[KVStore]:
    """The store of another server."""
    store = store_on(memory_kv, clock=manual_clock)
    yield store
    await store.close()


def lost_races(store: KVStore) -> int:
    lost: int = store.statistics()["changes"]["lost_races"]
    return lost


async def until_contended(store: KVStore) -> None:
    while not store.statistics()["changes"]["contended_keys"]:  # noqa: ASYNC110 - a queue tells nobody that it forms
        await asyncio.sleep(0)


async def increment(current: StoredObject | None) -> Update:
    assert current is not None
    obj = current.decode()
    obj["spec"]["count"] += 1
    return Update(obj)


def interfering(store: KVStore, *, times: int) -> Callable[[], Awaitable[None]]:
    """Another server's changes of default/a, one before each of the next puts."""
    left = times

    async def interfere() -> None:
        nonlocal left
        if left:
            left -= 1
            await store.guaranteed_update("default/a", increment)

    return interfere


async def test_a_lost_race_costs_no_read(store: KVStore, other: KVStore, kv: Interfered) -> None:
    created = await create(store, "a", count=0)
    kv.gets, kv.puts = 0, 0
    kv.before_put = interfering(other, times=1)

    updated = await store.guaranteed_update("default/a", increment, suggestion=created)

    assert updated.decode()["spec"] == {"count": 2}
    assert (kv.gets, kv.puts, lost_races(store)) == (0, 2, 1)


async def test_an_update_gives_up_in_the_end(
    store: KVStore, other: KVStore, kv: Interfered, manual_clock: ManualClock
) -> None:
    await create(store, "a", count=0)
    kv.before_put = interfering(other, times=MAX_ATTEMPTS + 1)

    async def elapse(seconds: float) -> None:
        manual_clock.advance(seconds)

    with pytest.raises(TooManyConflicts):
        await while_time_goes_by(store.guaranteed_update("default/a", increment), elapse)
    assert (await other.get("default/a")).decode()["spec"] == {"count": MAX_ATTEMPTS + 1}


async def test_writers_of_one_process_queue_after_a_lost_race(store: KVStore, kv: Interfered) -> None:
    await create(store, "a", count=0)
    everyone = asyncio.Barrier(50)
    kv.gets, kv.puts = 0, 0

    async def meet_first(current: StoredObject | None) -> Update:
        if everyone.n_waiting or kv.puts == 0:
            await everyone.wait()
        return await increment(current)

    async with asyncio.TaskGroup() as group:
        for _ in range(50):
            group.create_task(store.guaranteed_update("default/a", meet_first))

    assert (await store.get("default/a")).decode()["spec"] == {"count": 50}
    assert (kv.puts, lost_races(store)) == (50 + 49, 49)
    assert store.statistics()["changes"]["contended_keys"] == 0


async def test_writers_are_served_in_the_order_in_which_they_came(
    store: KVStore, other: KVStore, kv: Interfered
) -> None:
    await create(store, "a", order=[], count=0)
    kv.before_put = interfering(other, times=1)
    may_go_on = asyncio.Event()

    def noting(name: str) -> Callable[[StoredObject | None], Awaitable[Update]]:
        async def try_update(current: StoredObject | None) -> Update:
            assert current is not None
            if name == "first" and kv.puts > 1:
                await may_go_on.wait()
            obj = current.decode()
            obj["spec"]["order"].append(name)
            return Update(obj)

        return try_update

    async with asyncio.TaskGroup() as group:
        for name in ("first", "second", "third", "fourth"):
            group.create_task(store.guaranteed_update("default/a", noting(name)))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        may_go_on.set()

    assert (await store.get("default/a")).decode()["spec"]["order"] == ["first", "second", "third", "fourth"]


async def test_a_queue_goes_on_after_a_writer_that_failed_or_was_cancelled(store: KVStore, kv: Interfered) -> None:
    await create(store, "a", count=0)
    everyone = asyncio.Barrier(4)
    holding = asyncio.Event()

    async def meet(current: StoredObject | None) -> None:
        if kv.puts == 1:
            await everyone.wait()

    async def fail_later(current: StoredObject | None) -> Update:
        await meet(current)
        if kv.puts > 1:
            raise ZeroDivisionError
        return await increment(current)

    async def hang_later(current: StoredObject | None) -> Update:
        await meet(current)
        if kv.puts > 1:
            holding.set()
            await asyncio.Event().wait()
        return await increment(current)

    async def meet_and_increment(current: StoredObject | None) -> Update:
        await meet(current)
        return await increment(current)

    functions = [meet_and_increment, hang_later, fail_later, meet_and_increment]
    tasks = [asyncio.create_task(store.guaranteed_update("default/a", function)) for function in functions]
    await in_time(asyncio.wait([tasks[0]]))
    await in_time(holding.wait())
    tasks[1].cancel()
    results = await in_time(asyncio.gather(*tasks, return_exceptions=True))

    assert isinstance(results[1], asyncio.CancelledError)
    assert isinstance(results[2], ZeroDivisionError)
    assert (await store.get("default/a")).decode()["spec"] == {"count": 2}
    assert store.statistics()["changes"]["contended_keys"] == 0


async def test_two_servers_apply_all_their_updates(memory_kv: MemoryKV) -> None:
    stores = [store_on(memory_kv, clock=SystemClock()) for _ in range(2)]
    await create(stores[0], "a", count=0)

    async def yielding_increment(current: StoredObject | None) -> Update:
        await asyncio.sleep(0)
        return await increment(current)

    async with asyncio.TaskGroup() as group:
        for number in range(100):
            group.create_task(stores[number % 2].guaranteed_update("default/a", yielding_increment))

    assert (await stores[0].get("default/a")).decode()["spec"] == {"count": 100}


async def test_updates_and_deletions_queue_together(store: KVStore, other: KVStore, kv: Interfered) -> None:
    created = await create(store, "a", count=0)
    kv.before_put = interfering(other, times=1)
    started = asyncio.Event()

    async def wait_for_the_deletion(current: StoredObject | None) -> Update:
        if kv.puts > 1:
            await started.wait()
        return await increment(current)

    async with asyncio.TaskGroup() as group:
        updating = group.create_task(store.guaranteed_update("default/a", wait_for_the_deletion))
        await until_contended(store)
        deleting = group.create_task(store.delete("default/a", suggestion=created))
        await asyncio.sleep(0)
        started.set()

    assert updating.result().decode()["spec"] == {"count": 2}
    assert deleting.result().decode()["spec"] == {"count": 2}


async def test_an_update_behind_a_deletion_in_the_queue_finds_nothing(
    store: KVStore, other: KVStore, kv: Interfered
) -> None:
    await create(store, "a", count=0)
    kv.before_put = interfering(other, times=1)
    started = asyncio.Event()

    async def wait(current: StoredObject | None) -> Update:
        if kv.puts > 1:
            await started.wait()
        return await increment(current)

    first = asyncio.create_task(store.guaranteed_update("default/a", wait))
    await until_contended(store)
    rest = [
        asyncio.create_task(work)
        for work in (store.delete("default/a"), store.guaranteed_update("default/a", increment))
    ]
    await asyncio.sleep(0)
    started.set()
    results = await in_time(asyncio.gather(first, *rest, return_exceptions=True))

    assert isinstance(results[1], StoredObject)
    assert isinstance(results[2], KeyNotFound)


@pytest.mark.parametrize("ignores", [False, True])
async def test_a_write_with_an_unknown_outcome_is_never_repeated(store: KVStore, kv: Interfered, ignores: bool) -> None:
    created = await create(store, "a", count=0)
    kv.puts = 0
    kv.answer_lost = DeadlineExceeded("no answer")

    with pytest.raises(DeadlineExceeded):
        await store.guaranteed_update("default/a", increment, ignore_not_found=ignores, suggestion=created)
    with pytest.raises(DeadlineExceeded):
        await store.create("default/b", widget("b"))

    assert kv.puts == 2
    assert (await store.get("default/a")).decode()["spec"] == {"count": 1}


async def test_concurrent_creations_of_one_key_have_one_winner(store: KVStore) -> None:
    results = await asyncio.gather(
        *(store.create("default/a", widget("a", number=number)) for number in range(10)), return_exceptions=True
    )

    winners = [result for result in results if isinstance(result, StoredObject)]
    assert len(winners) == 1
    assert [type(result) for result in results if result is not winners[0]] == [KeyExists] * 9
    assert (await store.get("default/a")).json == winners[0].json


async def test_a_lease_that_is_gone_is_replaced(store: KVStore, memory_kv: MemoryKV) -> None:
    await store.create("default/a", widget("a"), ttl=3600)
    record = await kv_steps.read(memory_kv, raw_key("default/a"))
    assert record is not None
    await memory_kv.revoke_lease(record.lease)

    await store.create("default/b", widget("b"), ttl=3600)

    replaced = await kv_steps.read(memory_kv, raw_key("default/b"))
    assert replaced is not None
    assert replaced.lease not in (0, record.lease)


async def test_a_lease_that_cannot_be_had_is_an_error(store: KVStore, kv: Interfered) -> None:
    async def lose_all_leases() -> None:
        raise LeaseNotFound("gone again")

    kv.before_put = lose_all_leases

    with pytest.raises(LeaseNotFound):
        await store.create("default/a", widget("a"), ttl=3600)
    assert kv.puts == 2


async def test_a_no_op_on_a_suggestion_costs_one_read_and_no_write(store: KVStore, kv: Interfered) -> None:
    created = await create(store, "a", count=0)
    kv.gets, kv.puts = 0, 0

    await store.guaranteed_update("default/a", unchanged, suggestion=created)

    assert (kv.gets, kv.puts) == (1, 0)


async def test_an_update_of_a_suggestion_costs_no_read(store: KVStore, kv: Interfered) -> None:
    created = await create(store, "a", count=0)
    kv.gets, kv.puts = 0, 0

    await store.guaranteed_update("default/a", setting(count=5), suggestion=created)
    await store.delete("default/a", suggestion=await set_spec(store, created, count=6))

    assert (kv.gets, kv.puts) == (1, 2)
