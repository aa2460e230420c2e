"""Cacher on a Store in memory: the storage contract.

The cacher is ready when a test begins: what was written before it was filled is not in its window.
"""

from collections.abc import AsyncIterator

import pytest

from storage.cacher.cacher import Cacher
from storage.clock import ManualClock
from storage.kv.memory import MemoryKV
from tests.storage.cacher.cachers import cacher_on
from tests.storage.contract import StorageContract
from tests.storage.steps import Elapse
from tests.storage.stores import store_on


class TestCacherInMemory(StorageContract):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    def elapse(self, clock: ManualClock) -> Elapse:
        async def elapse(seconds: float) -> None:
            clock.advance(seconds)

        return elapse

    @pytest.fixture
    async def storage(self, clock: ManualClock) -> AsyncIterator[Cacher]:
        kv = MemoryKV(clock=clock)
        async with cacher_on(store_on(kv, clock=clock), clock) as cacher:
            await cacher.wait_until_ready()
            yield cacher
        await kv.close()
