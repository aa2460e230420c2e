"""The etcd engine passes the kv contract over TLS, with a client certificate that the member asks for."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV, Tls
from aio_apiserver.storage.kv.interface import KV
from tests.storage.kv.certificates import Authority
from tests.storage.kv.contract import KVContract
from tests.storage.kv.etcd_server import HOST, Member
from tests.stream_servers import talking


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def tls(authority: Authority) -> Tls:
    client = authority.issue("client")
    return Tls(authority=client.authority, certificate=client.certificate, key=client.key)


@pytest.fixture(scope="module")
def member(authority: Authority, etcd_binary: Path) -> Iterator[Member]:
    with Member(binary=etcd_binary, tls=authority.issue("server")) as member:
        yield member


class TestEtcdKVWithClientCertificates(KVContract):
    @pytest.fixture
    async def kv(self, member: Member, tls: Tls) -> AsyncIterator[KV]:
        engine = EtcdKV(EtcdConfig(endpoints=[member.endpoint], tls=tls))
        yield engine
        await engine.close()


async def test_without_an_authority_those_of_the_system_are_trusted(
    member: Member, tls: Tls, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = EtcdConfig(endpoints=[member.endpoint], tls=Tls(certificate=tls.certificate, key=tls.key))
    reasons = []
    for roots in (tls.certificate, tls.authority):  # the file that OpenSSL takes for the system's authorities
        monkeypatch.setenv("SSL_CERT_FILE", str(roots))
        engine = EtcdKV(config)
        reasons.append((await engine.health()).reason)
        await engine.close()

    assert "certificate verify failed" in reasons[0]
    assert reasons[1] == ""


async def test_a_server_without_tls_is_named_by_its_refusal_of_the_handshake(tls: Tls, etcd_binary: Path) -> None:
    with Member(binary=etcd_binary) as plain:
        engine = EtcdKV(EtcdConfig(endpoints=[plain.endpoint.replace("http", "https")], tls=tls))
        health = await engine.health()
        await engine.close()

    assert plain.endpoint.removeprefix("http") in health.reason
    assert health.reason.endswith("the server has closed the connection before the TLS handshake")


async def test_so_is_a_server_that_resets_the_connection(tls: Tls) -> None:
    async def reset(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async with talking(reset) as port:
        engine = EtcdKV(EtcdConfig(endpoints=[f"https://{HOST}:{port}"], tls=tls))
        health = await engine.health()
        await engine.close()

    assert health.reason.endswith("the server has closed the connection before the TLS handshake")


async def test_a_host_without_an_address_is_named(tls: Tls) -> None:
    engine = EtcdKV(EtcdConfig(endpoints=["https://no-such-host.invalid:2379"], tls=tls))
    health = await engine.health()
    await engine.close()

    assert "https://no-such-host.invalid:2379" in health.reason
    assert "the host has no address" in health.reason
