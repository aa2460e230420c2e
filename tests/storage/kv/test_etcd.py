"""The etcd engine passes the kv contract: on one member, over TLS with client certificates, on three members."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from storage.kv.etcd import EtcdConfig, EtcdKV, Tls
from storage.kv.interface import KV
from tests.storage.kv.certificates import Authority, CertificateFiles
from tests.storage.kv.contract import EmptyStoreContract, KVContract, SharedStoreContract
from tests.storage.kv.etcd_server import Cluster, Member


@pytest.fixture(scope="module")
def member() -> Iterator[Member]:
    with Member() as member:
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
    async def kv(self) -> AsyncIterator[KV]:
        with Member() as member:
            engine = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
            yield engine
            await engine.close()


class TestEtcdKVWithClientCertificates(KVContract):
    @pytest.fixture(scope="class")
    def authority(self, tmp_path_factory: pytest.TempPathFactory) -> Authority:
        return Authority(tmp_path_factory.mktemp("certificates"))

    @pytest.fixture(scope="class")
    def client(self, authority: Authority) -> CertificateFiles:
        return authority.issue("client")

    @pytest.fixture(scope="class")
    def member(self, authority: Authority) -> Iterator[Member]:
        with Member(tls=authority.issue("server")) as member:
            yield member

    @pytest.fixture
    async def kv(self, member: Member, client: CertificateFiles) -> AsyncIterator[KV]:
        tls = Tls(authority=client.authority, certificate=client.certificate, key=client.key)
        engine = EtcdKV(EtcdConfig(endpoints=[member.endpoint], tls=tls))
        yield engine
        await engine.close()


class TestEtcdKVOnThreeMembers(SharedStoreContract, KVContract):
    @pytest.fixture(scope="class")
    def cluster(self) -> Iterator[Cluster]:
        with Cluster() as cluster:
            yield cluster

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
