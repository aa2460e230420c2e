import asyncio
import ssl
from pathlib import Path

import pytest

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.tls import certificates, contexts
from aio_apiserver.base.clock import SystemClock
from tests.apiserver.serving import LOOPBACK, ask, running, trusting


def test_the_certificate_names_all_that_clients_call_the_server() -> None:
    hosts = contexts.hosts(Settings(bind_address="192.0.2.1", external_hostname="api.example.com"))

    expected = {
        "localhost",
        "127.0.0.1",
        "::1",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
        "10.0.0.1",
        "192.0.2.1",
        "api.example.com",
    }
    assert expected <= set(hosts)
    assert "0.0.0.0" not in contexts.hosts(Settings(bind_address="0.0.0.0"))  # noqa: S104


@pytest.mark.parametrize(
    ("bound", "reached"),
    [("0.0.0.0", "127.0.0.1"), ("::", "127.0.0.1"), ("", "127.0.0.1"), ("::1", "[::1]"), ("192.0.2.1", "192.0.2.1")],  # noqa: S104
)
def test_knows_the_address_for_this_machine(bound: str, reached: str) -> None:
    assert contexts.local_address(Settings(bind_address=bound)) == reached


async def test_serves_http_1_1_over_tls_1_2_and_1_3(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            client = trusting(server)
            client.minimum_version = client.maximum_version = version
            client.set_alpn_protocols(["h2", "http/1.1"])

            _, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=client)
            chosen = writer.get_extra_info("ssl_object").selected_alpn_protocol()
            writer.close()
            await writer.wait_closed()

            assert chosen == "http/1.1"


async def test_refuses_versions_below_the_least(tmp_path: Path) -> None:
    async with running(tmp_path, tls_min_version="VersionTLS13") as server:
        client = trusting(server)
        client.maximum_version = ssl.TLSVersion.TLSv1_2

        with pytest.raises(OSError):  # noqa: PT011 the handshake ends as either side sees it
            await ask(server.secure.port, "/healthz", tls=client)


async def test_offers_the_chosen_ciphers_only(tmp_path: Path) -> None:
    async with running(tmp_path, tls_cipher_suites=("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",)) as server:
        client = trusting(server)
        client.maximum_version = ssl.TLSVersion.TLSv1_2

        _, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=client)
        name, _, _ = writer.get_extra_info("cipher")
        writer.close()
        await writer.wait_closed()

        assert name == "ECDHE-ECDSA-AES256-GCM-SHA384"


async def test_suites_of_tls_1_3_alone_leave_nothing_older(tmp_path: Path) -> None:
    async with running(tmp_path, tls_cipher_suites=("TLS_AES_128_GCM_SHA256",)) as server:
        client = trusting(server)
        client.maximum_version = ssl.TLSVersion.TLSv1_2

        with pytest.raises(OSError):  # noqa: PT011 the handshake ends as either side sees it
            await ask(server.secure.port, "/healthz", tls=client)


async def test_serves_with_a_certificate_of_the_operators(tmp_path: Path) -> None:
    own = certificates.ensure(tmp_path / "own", ["localhost", LOOPBACK], SystemClock())
    files = {"tls_cert_file": own.server.certificate, "tls_private_key_file": own.server.key}

    async with running(tmp_path / "data", **files) as server:
        client = ssl.create_default_context(cafile=own.ca.certificate)
        answer = await ask(server.secure.port, "/healthz", tls=client)

    assert answer.text == "ok"


async def test_http_on_the_secure_port_is_refused_quietly(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with running(tmp_path) as server:
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()

    assert not answer.startswith(b"HTTP/")
    assert not [record for record in caplog.records if record.exc_info]
