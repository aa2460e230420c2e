"""Lease manager: few leases, and none that ends too early."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.errors import Closed
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.lease_manager import LeaseManager
from tests.storage.steps import in_time
from tests.storage.stores import Interfered


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def kv(clock: ManualClock) -> AsyncIterator[MemoryKV]:
    kv = MemoryKV(clock=clock)
    yield kv
    await kv.close()


@pytest.fixture
def leases(kv: MemoryKV, clock: ManualClock) -> LeaseManager:
    return LeaseManager(kv, clock=clock)


async def exists(kv: MemoryKV, key: bytes) -> bool:
    await asyncio.sleep(0)  # the expiry of a lease is a task of the engine
    return (await kv.get(key)).record is not None


async def test_writes_within_the_window_share_a_lease(leases: LeaseManager, clock: ManualClock) -> None:
    first = await leases.lease_for(3600)
    clock.advance(59)

    assert await leases.lease_for(3600) == first


async def test_the_window_of_long_ttls_is_a_minute(leases: LeaseManager, clock: ManualClock) -> None:
    first = await leases.lease_for(3600)
    clock.advance(60)

    assert await leases.lease_for(3600) != first


async def test_the_window_of_short_ttls_is_a_twentieth(leases: LeaseManager, clock: ManualClock) -> None:
    first = await leases.lease_for(100)
    clock.advance(4.9)
    second = await leases.lease_for(100)
    clock.advance(0.1)
    third = await leases.lease_for(100)

    assert first == second != third


async def test_each_ttl_has_a_lease_of_its_own(leases: LeaseManager) -> None:
    hour, minute = await leases.lease_for(3600), await leases.lease_for(60)

    assert hour != minute
    assert (await leases.lease_for(3600), await leases.lease_for(60)) == (hour, minute)


async def test_a_lease_takes_so_many_objects_and_no_more(kv: MemoryKV, clock: ManualClock) -> None:
    leases = LeaseManager(kv, clock=clock, max_objects=3)

    handed_out = [await leases.lease_for(3600) for _ in range(7)]

    assert len(set(handed_out)) == 3
    assert handed_out[0] == handed_out[2] != handed_out[3] == handed_out[5] != handed_out[6]


async def test_nothing_expires_before_its_ttl(leases: LeaseManager, kv: MemoryKV, clock: ManualClock) -> None:
    await leases.lease_for(100)
    clock.advance(4.9)
    await kv.put(b"a", b"", expected_mod_revision=0, lease=await leases.lease_for(100))

    clock.advance(100)
    lives_through_its_ttl = await exists(kv, b"a")
    clock.advance(0.2)

    assert lives_through_its_ttl
    assert not await exists(kv, b"a")


async def test_concurrent_writes_share_one_grant(leases: LeaseManager) -> None:
    handed_out = await asyncio.gather(*(leases.lease_for(3600) for _ in range(50)))

    assert len(set(handed_out)) == 1
    assert leases.statistics() == {"granted": 1, "shared": 1}


async def test_a_discarded_lease_is_never_handed_out_again(leases: LeaseManager) -> None:
    first = await leases.lease_for(3600)

    leases.discard(first)

    assert await leases.lease_for(3600) != first


async def test_leases_that_ran_out_are_forgotten(leases: LeaseManager, clock: ManualClock) -> None:
    for ttl in range(100, 110):
        await leases.lease_for(ttl)
    clock.advance(1000)
    await leases.lease_for(200)

    assert leases.statistics() == {"granted": 11, "shared": 1}


async def test_a_grant_that_fails_fails_for_all_who_wait(leases: LeaseManager, kv: MemoryKV) -> None:
    await kv.close()

    failures = await asyncio.gather(*(leases.lease_for(3600) for _ in range(5)), return_exceptions=True)

    assert [type(failure) for failure in failures] == [Closed] * 5


async def test_who_waits_for_a_grant_that_is_cancelled_makes_the_next(kv: MemoryKV, clock: ManualClock) -> None:
    asked = asyncio.Event()

    async def hang_once() -> None:
        if not asked.is_set():
            asked.set()
            await asyncio.Event().wait()

    interfered = Interfered(kv)
    interfered.before_grant = hang_once
    leases = LeaseManager(interfered, clock=clock)
    first = asyncio.create_task(leases.lease_for(3600))
    await asked.wait()
    others = [asyncio.create_task(leases.lease_for(3600)) for _ in range(3)]
    await asyncio.sleep(0)

    first.cancel()
    handed_out = await in_time(asyncio.gather(*others))

    assert len(set(handed_out)) == 1
    assert leases.statistics()["granted"] == 1
