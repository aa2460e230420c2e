"""The embedded engine: the kv contract on a file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.kv.sqlite import SqliteKV
from tests.storage.kv.contract import Elapse, EmptyStoreContract, ExactCompactionContract, KVContract


class TestSqliteKV(EmptyStoreContract, ExactCompactionContract, KVContract):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    async def kv(self, clock: ManualClock, tmp_path: Path) -> AsyncIterator[KV]:
        engine = await SqliteKV.open(tmp_path, clock=clock)
        yield engine
        await engine.close()

    @pytest.fixture
    def elapse(self, clock: ManualClock) -> Elapse:
        async def elapse(seconds: float) -> None:
            clock.advance(seconds)

        return elapse
