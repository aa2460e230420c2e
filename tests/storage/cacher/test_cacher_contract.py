"""Cacher on a Store in memory: the storage contract, ready and while it is being filled."""

from collections.abc import AsyncIterator

import pytest

from storage.cacher.cacher import Cacher
from storage.clock import ManualClock
from storage.codec import MSGPACK
from storage.kv.memory import MemoryKV
from storage.lease_manager import LeaseManager
from storage.store import Store
from storage.transformer import IDENTITY
from tests.storage.contract import StorageContract
from tests.storage.steps import WIDGETS, Elapse


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
        store = Store(
            kv,
            WIDGETS,
            prefix="/registry/example.com/widgets/",
            codec=MSGPACK,
            transformer=IDENTITY,
            leases=LeaseManager(kv, clock=clock),
            clock=clock,
        )
        cacher = Cacher(store, WIDGETS, clock=clock)
        await cacher.wait_until_ready()
        yield cacher
        await cacher.close()
        await kv.close()
