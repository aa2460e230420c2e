"""The certificate of --proxy-client-cert-file, which aggregated servers see."""

from pathlib import Path

import pytest

from aio_apiserver.apiserver.aggregation.proxy_certificate import ProxyCertificate
from aio_apiserver.apiserver.config.settings import Settings
from tests.apiserver.extension_servers import extension
from tests.apiserver.serving import running
from tests.apiserver.test_aggregation import API_SERVICES, GREETINGS, NAME, available, condition, register, send
from tests.storage.kv.certificates import Authority, CertificateFiles


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "known")


def renew(shown: CertificateFiles, renewed: CertificateFiles) -> None:
    shown.certificate.write_bytes(renewed.certificate.read_bytes())
    shown.key.write_bytes(renewed.key.read_bytes())


def settings(directory: Path, shown: CertificateFiles) -> Settings:
    return Settings(data_dir=directory, proxy_client_cert_file=shown.certificate, proxy_client_key_file=shown.key)


async def test_aggregated_servers_see_a_renewed_certificate(tmp_path: Path, authority: Authority) -> None:
    shown = Authority(tmp_path, "strange").issue("us")
    merge = {"Content-Type": "application/merge-patch+json"}

    async with (
        extension(authority, wants_certificate=True) as served,
        running(tmp_path, proxy_client_cert_file=shown.certificate, proxy_client_key_file=shown.key) as server,
    ):
        await register(server, authority, served.port)
        await condition(server, "FailedDiscoveryCheck")
        renew(shown, authority.issue("us anew"))
        await server.files.check()
        look_again = {"metadata": {"labels": {"look": "again"}}}
        await send(server, f"{API_SERVICES}/{NAME}", method="PATCH", obj=look_again, **merge)
        await available(server)
        answer = await send(server, f"{GREETINGS}/one")

    assert answer.json["text"] == "hello"


async def test_a_certificate_without_its_key_is_not_shown(tmp_path: Path, authority: Authority) -> None:
    shown, renewed = authority.issue("us"), authority.issue("us anew")
    certificate = ProxyCertificate(settings(tmp_path, shown))
    before = certificate.pem
    shown.certificate.write_bytes(renewed.certificate.read_bytes())

    await certificate.reloaded.check()
    half_way = certificate.pem
    shown.key.write_bytes(renewed.key.read_bytes())
    await certificate.reloaded.check()

    assert half_way == before
    assert certificate.pem == "\n".join((renewed.certificate.read_text(), renewed.key.read_text()))
