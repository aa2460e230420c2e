"""The etcd engine passes the kv contract on a single member."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.interface import KV
from tests.storage.kv.contract import EmptyStoreContract, KVContract, SharedStoreContract
from tests.storage.kv.etcd_server import Member


@pytest.fixture(scope="module")
def member(etcd_binary: Path) -> Iterator[Member]:
    with Member(binary=etcd_binary) as member:
        yield member


class TestEtcdKV(SharedStoreContract, KVContract):
    @pytest.fixture
    async def kv(self, member: Member) -> AsyncIterator[KV]:
        engine = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
        yield engine
        await engine.close()

    @pytest.fixture
    async def other(self, member: Member) -> AsyncIterator[KV]:
        engine = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
        yield engine
        await engine.close()


class TestEtcdKVOnAnEmptyStore(EmptyStoreContract):
    @pytest.fixture
    async def kv(self, etcd_binary: Path) -> AsyncIterator[KV]:
        with Member(binary=etcd_binary) as member:
            engine = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
            yield engine
            await engine.close()
