import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aio_apiserver.apiserver import renewal, server
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.server import Server
from aio_apiserver.apiserver.tls import certificates
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.base.clock import ManualClock, SystemClock
from tests.apiserver.serving import LOOPBACK

DAY = 24 * 3600


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(time.time())


@pytest.fixture
def own(tmp_path: Path) -> Pki:
    """Certificates of the operator."""
    return certificates.ensure(tmp_path / "own", [LOOPBACK], SystemClock())


@pytest.fixture
async def started(tmp_path: Path, own: Pki, clock: ManualClock) -> AsyncIterator[Server]:
    running = await server.start(
        Settings(
            data_dir=tmp_path,
            storage_backend="memory",
            bind_address=LOOPBACK,
            secure_port=0,
            tls_cert_file=own.server.certificate,
            tls_private_key_file=own.server.key,
        ),
        clock=clock,
    )
    yield running
    await running.stop()


async def presented(port: int) -> bytes:
    """The certificate that a new connection gets."""
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    _, writer = await asyncio.open_connection(LOOPBACK, port, ssl=tls)
    shown: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    return shown


def on_disk(path: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert(path.read_text())


async def renewed(clock: ManualClock, path: Path, before: bytes) -> None:
    """Let the next check run, and wait for its writes."""
    await asyncio.sleep(0)
    clock.advance(renewal.PAUSE)
    while path.read_bytes() == before:  # noqa: ASYNC110, ASYNC240 a thread writes it
        await asyncio.sleep(0)


async def test_a_certificate_that_the_operator_replaces_is_served(started: Server, own: Pki) -> None:
    before = await presented(started.secure.port)
    own.server.certificate.unlink()
    certificates.ensure(own.ca.certificate.parent, [LOOPBACK], SystemClock())

    await started.files.check()
    after = await presented(started.secure.port)

    assert before != after == on_disk(own.server.certificate)


async def test_the_servers_own_are_renewed_near_their_end(started: Server, clock: ManualClock) -> None:
    admin = started.pki.admin.certificate
    before = admin.read_bytes()
    await asyncio.sleep(0)
    clock.advance(340 * DAY)
    kubeconfig = started.settings.kubeconfig_file

    await renewed(clock, kubeconfig, kubeconfig.read_bytes())

    assert admin.read_bytes() != before


async def test_a_file_that_does_not_fit_leaves_everything_as_it_was(
    started: Server, own: Pki, caplog: pytest.LogCaptureFixture
) -> None:
    before = await presented(started.secure.port)
    own.server.certificate.write_bytes(own.admin.certificate.read_bytes())

    await started.files.check()

    assert await presented(started.secure.port) == before
    assert "cannot reload the certificates, nothing changes" in caplog.text
