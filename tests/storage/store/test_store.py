"""KVStore on every engine: the storage contract."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.codec import JSON, MSGPACK, Codec
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.storage.store.store import KVStore
from tests.storage.contract import OriginContract
from tests.storage.kv.etcd_server import Member
from tests.storage.steps import Elapse
from tests.storage.stores import store_on


@pytest.fixture(scope="module")
def member(etcd_binary: Path) -> Iterator[Member]:
    with Member(binary=etcd_binary) as member:
        yield member


class TestStoreInMemory(OriginContract):
    @pytest.fixture(params=[MSGPACK, JSON], ids=["msgpack", "json"])
    def codec(self, request: pytest.FixtureRequest) -> Codec:
        codec: Codec = request.param
        return codec

    @pytest.fixture
    def elapse(self, manual_clock: ManualClock) -> Elapse:
        async def elapse(seconds: float) -> None:
            manual_clock.advance(seconds)

        return elapse

    @pytest.fixture
    def kv(self, memory_kv: MemoryKV) -> KV:
        return memory_kv

    @pytest.fixture
    async def storage(self, kv: KV, manual_clock: ManualClock, codec: Codec) -> AsyncIterator[KVStore]:
        store = store_on(kv, clock=manual_clock, codec=codec)
        yield store
        await store.close()


class TestStoreOnSqlite(OriginContract):
    @pytest.fixture
    def elapse(self, manual_clock: ManualClock) -> Elapse:
        async def elapse(seconds: float) -> None:
            manual_clock.advance(seconds)

        return elapse

    @pytest.fixture
    async def kv(self, tmp_path: Path, manual_clock: ManualClock) -> AsyncIterator[KV]:
        kv = await SqliteKV.open(tmp_path, clock=manual_clock)
        yield kv
        await kv.close()

    @pytest.fixture
    async def storage(self, kv: KV, manual_clock: ManualClock) -> AsyncIterator[KVStore]:
        store = store_on(kv, clock=manual_clock)
        yield store
        await store.close()


class TestStoreOnEtcd(OriginContract):
    @pytest.fixture
    async def kv(self, member: Member) -> AsyncIterator[KV]:
        kv = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
        yield kv
        await kv.close()

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    def elapse(self, clock: ManualClock) -> Elapse:
        """The store's clock; real etcd has its own."""

        async def elapse(seconds: float) -> None:
            clock.advance(seconds)

        return elapse

    @pytest.fixture
    async def storage(self, kv: KV, clock: ManualClock) -> AsyncIterator[KVStore]:
        store = store_on(kv, clock=clock, prefix=f"/registry/{os.urandom(8).hex()}/")
        yield store
        await store.close()
