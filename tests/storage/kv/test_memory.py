"""The memory engine: the kv contract, and that it lets go of what it no longer needs."""

from collections.abc import AsyncIterator

import pytest

from storage.clock import ManualClock
from storage.kv.interface import KV
from storage.kv.memory import MemoryKV
from tests.storage.kv.contract import Elapse, EmptyStoreContract, ExactCompactionContract, KVContract


class TestMemoryKV(EmptyStoreContract, ExactCompactionContract, KVContract):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    async def kv(self, clock: ManualClock) -> AsyncIterator[KV]:
        engine = MemoryKV(clock=clock)
        yield engine
        await engine.close()

    @pytest.fixture
    def elapse(self, clock: ManualClock) -> Elapse:
        async def elapse(seconds: float) -> None:
            clock.advance(seconds)

        return elapse
