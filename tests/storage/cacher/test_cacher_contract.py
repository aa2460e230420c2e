"""Cacher on every engine: the storage contract, also where the store's progress is not to be trusted.

The cacher is ready when a test begins: what was written before it was filled is not in its window. On etcd it depends
on the version which way reads go: PyPI's 3.5.1 is too old for its progress to be trusted.
"""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.kv.sqlite import SqliteKV
from tests.storage.cacher.cachers import cacher_on
from tests.storage.cacher.troubled import Troubled
from tests.storage.contract import StorageContract
from tests.storage.kv.etcd_server import Member
from tests.storage.steps import Elapse
from tests.storage.stores import store_on


@pytest.fixture(scope="module")
def member(etcd_binary: Path) -> Iterator[Member]:
    with Member(binary=etcd_binary) as member:
        yield member


class CacherContract(StorageContract):
    @pytest.fixture
    def elapse(self, manual_clock: ManualClock) -> Elapse:
        """The cacher's time; etcd's own goes by itself."""

        async def elapse(seconds: float) -> None:
            manual_clock.advance(seconds)

        return elapse


class TestCacherInMemory(CacherContract):
    @pytest.fixture
    async def storage(self, memory_kv: MemoryKV, manual_clock: ManualClock) -> AsyncIterator[Cacher]:
        async with cacher_on(store_on(memory_kv, clock=manual_clock), manual_clock) as cacher:
            await cacher.wait_until_ready()
            yield cacher


class TestCacherWithoutReliableProgress(CacherContract):
    @pytest.fixture
    async def storage(self, origin: Troubled, cacher: Cacher) -> Cacher:
        origin.has_reliable_progress = False
        await cacher.wait_until_ready()
        return cacher


class TestCacherOnSqlite(CacherContract):
    @pytest.fixture
    async def storage(self, tmp_path: Path, manual_clock: ManualClock) -> AsyncIterator[Cacher]:
        kv = await SqliteKV.open(tmp_path, clock=manual_clock)
        async with cacher_on(store_on(kv, clock=manual_clock), manual_clock) as cacher:
            await cacher.wait_until_ready()
            yield cacher
        await kv.close()


class TestCacherOnEtcd(CacherContract):
    @pytest.fixture
    async def storage(self, member: Member, manual_clock: ManualClock) -> AsyncIterator[Cacher]:
        kv = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
        store = store_on(kv, clock=manual_clock, prefix=f"/registry/{os.urandom(8).hex()}/")
        async with cacher_on(store, manual_clock) as cacher:
            await cacher.wait_until_ready()
            yield cacher
        await kv.close()
