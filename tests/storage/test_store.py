"""Store on every engine: the storage contract."""

from collections.abc import AsyncIterator

import pytest

from storage.clock import ManualClock
from storage.codec import JSON, MSGPACK, Codec
from storage.kv.interface import KV
from storage.kv.memory import MemoryKV
from storage.lease_manager import LeaseManager
from storage.store import Store
from storage.transformer import IDENTITY
from tests.storage.contract import OriginContract
from tests.storage.steps import WIDGETS, Elapse

PREFIX = "/registry/example.com/widgets/"


class TestStoreInMemory(OriginContract):
    @pytest.fixture(params=[MSGPACK, JSON], ids=["msgpack", "json"])
    def codec(self, request: pytest.FixtureRequest) -> Codec:
        codec: Codec = request.param
        return codec

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    def elapse(self, clock: ManualClock) -> Elapse:
        async def elapse(seconds: float) -> None:
            clock.advance(seconds)

        return elapse

    @pytest.fixture
    async def kv(self, clock: ManualClock) -> AsyncIterator[KV]:
        kv = MemoryKV(clock=clock)
        yield kv
        await kv.close()

    @pytest.fixture
    async def storage(self, kv: KV, clock: ManualClock, codec: Codec) -> AsyncIterator[Store]:
        store = Store(
            kv,
            WIDGETS,
            prefix=PREFIX,
            codec=codec,
            transformer=IDENTITY,
            leases=LeaseManager(kv, clock=clock),
            clock=clock,
        )
        yield store
        await store.close()
