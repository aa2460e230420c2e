"""List and watch hand over to each other without gap or repetition, also during many writes and faults."""

import asyncio

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.kv.memory import MemoryKV
from tests.storage.cacher.cachers import cacher_on
from tests.storage.cacher.hand_offs import hand_over
from tests.storage.cacher.troubled import Troubled, make_trouble
from tests.storage.stores import store_on


async def test_hand_offs_under_concurrent_writers() -> None:
    kv = MemoryKV()
    async with cacher_on(store_on(kv)) as here, cacher_on(store_on(kv)) as there:
        done = await hand_over([here, there], [here, there, store_on(kv)], rounds=1_600)

        assert done.begun_again == 0
        assert here.statistics()["watches"]["watchers"] == 0
    await kv.close()


async def test_hand_offs_while_caches_lose_the_store_and_its_history() -> None:
    clock = ManualClock()
    kv = MemoryKV(clock=clock)
    origins = [Troubled(store_on(kv, clock=clock)) for _ in range(2)]
    async with cacher_on(origins[0], clock) as here, cacher_on(origins[1], clock) as there:
        trouble = asyncio.ensure_future(make_trouble(origins, kv, clock))
        try:
            done = await hand_over([here, there], [here, there, store_on(kv, clock=clock)], rounds=400)
        finally:
            trouble.cancel()

        assert done.begun_again > 0
        assert here.statistics()["reflector"]["watches"] > 1
        assert here.statistics()["reflector"]["relists"] > 0
    await kv.close()
