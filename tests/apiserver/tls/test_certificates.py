import ssl
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from aio_apiserver.apiserver.tls import certificates
from aio_apiserver.apiserver.tls.certificates import KeyPair, Pki
from aio_apiserver.base.clock import ManualClock

HOSTS = ["localhost", "127.0.0.1", "::1", "kubernetes.default.svc"]
DAY = 24 * 3600


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 1, 1, tzinfo=UTC).timestamp())


def read(pair: KeyPair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pair.certificate.read_bytes())


def contents(pki: Pki) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in pki.ca.certificate.parent.glob("*.*")}


def test_makes_a_ca_and_what_it_signs(tmp_path: Path, clock: ManualClock) -> None:
    pki = certificates.ensure(tmp_path / "pki", HOSTS, clock)

    ca, server, admin = read(pki.ca), read(pki.server), read(pki.admin)
    server.verify_directly_issued_by(ca)
    admin.verify_directly_issued_by(ca)
    alternatives = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert alternatives.get_values_for_type(x509.DNSName) == ["localhost", "kubernetes.default.svc"]
    assert [str(ip) for ip in alternatives.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1"]
    assert admin.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "kubernetes-admin"
    assert admin.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)[0].value == "system:masters"


def test_everything_is_its_owners_alone(tmp_path: Path, clock: ManualClock) -> None:
    pki = certificates.ensure(tmp_path / "pki", HOSTS, clock)

    directory = pki.ca.key.parent
    assert directory.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in directory.glob("[!.]*")} == {0o600}


def test_a_second_start_makes_nothing(tmp_path: Path, clock: ManualClock) -> None:
    before = contents(certificates.ensure(tmp_path, HOSTS, clock))

    clock.advance(300 * DAY)

    assert contents(certificates.ensure(tmp_path, HOSTS, clock)) == before


def test_fewer_hosts_make_nothing(tmp_path: Path, clock: ManualClock) -> None:
    before = contents(certificates.ensure(tmp_path, HOSTS, clock))

    assert contents(certificates.ensure(tmp_path, HOSTS[:2], clock)) == before


def test_a_new_host_renews_the_serving_certificate_only(tmp_path: Path, clock: ManualClock) -> None:
    before = contents(certificates.ensure(tmp_path, HOSTS, clock))

    after = contents(certificates.ensure(tmp_path, [*HOSTS, "10.0.0.1"], clock))

    assert {name for name in after if after[name] != before[name]} == {"apiserver.crt", "apiserver.key"}


def test_certificates_are_renewed_near_their_end_under_the_same_ca(tmp_path: Path, clock: ManualClock) -> None:
    before = contents(certificates.ensure(tmp_path, HOSTS, clock))

    clock.advance(340 * DAY)
    pki = certificates.ensure(tmp_path, HOSTS, clock)

    changed = {name for name, content in contents(pki).items() if content != before[name]}
    assert changed == {"apiserver.crt", "apiserver.key", "admin.crt", "admin.key"}
    assert read(pki.server).not_valid_after_utc > datetime.fromtimestamp(clock.now(), UTC) + timedelta(days=364)


def test_a_ca_near_its_end_renews_all(tmp_path: Path, clock: ManualClock) -> None:
    before = contents(certificates.ensure(tmp_path, HOSTS, clock))

    clock.advance(3640 * DAY)
    pki = certificates.ensure(tmp_path, HOSTS, clock)

    read(pki.server).verify_directly_issued_by(read(pki.ca))
    assert contents(pki)["ca.crt"] != before["ca.crt"]


@pytest.mark.parametrize("name", ["apiserver.crt", "apiserver.key", "ca.key", "admin.crt"])
@pytest.mark.parametrize("damage", [b"", b"-----BEGIN CERTIFICATE-----\nxx\n"])
def test_what_is_damaged_is_made_anew(tmp_path: Path, clock: ManualClock, name: str, damage: bytes) -> None:
    certificates.ensure(tmp_path, HOSTS, clock)
    (tmp_path / name).write_bytes(damage)

    pki = certificates.ensure(tmp_path, HOSTS, clock)

    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(pki.server.certificate, pki.server.key)
    read(pki.admin).verify_directly_issued_by(read(pki.ca))


def test_a_key_of_another_certificate_does_not_count(tmp_path: Path, clock: ManualClock) -> None:
    certificates.ensure(tmp_path, HOSTS, clock)
    (tmp_path / "apiserver.key").write_bytes((tmp_path / "admin.key").read_bytes())

    pki = certificates.ensure(tmp_path, HOSTS, clock)

    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(pki.server.certificate, pki.server.key)


def test_processes_that_start_together_agree(tmp_path: Path, clock: ManualClock) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: certificates.ensure(tmp_path, HOSTS, clock), range(16)))

    assert len({pki.admin_token for pki in made}) == 1
    read(made[0].server).verify_directly_issued_by(read(made[0].ca))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".") and path.name != ".lock"]
