"""The etcd engine passes the kv contract on a cluster of three members, all of which it uses in turn."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.interface import KV
from tests.storage.kv.contract import KVContract, SharedStoreContract
from tests.storage.kv.etcd_server import Cluster


@pytest.fixture(scope="module")
def cluster(etcd_binary: Path) -> Iterator[Cluster]:
    with Cluster(binary=etcd_binary) as cluster:
        yield cluster


class TestEtcdKVOnThreeMembers(SharedStoreContract, KVContract):
    @pytest.fixture
    async def kv(self, cluster: Cluster) -> AsyncIterator[KV]:
        engine = EtcdKV(EtcdConfig(endpoints=cluster.endpoints))
        yield engine
        await engine.close()

    @pytest.fixture
    async def other(self, cluster: Cluster) -> AsyncIterator[KV]:
        engine = EtcdKV(EtcdConfig(endpoints=cluster.endpoints))
        yield engine
        await engine.close()
