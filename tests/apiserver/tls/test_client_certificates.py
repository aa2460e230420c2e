import datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from aio_apiserver.apiserver.tls import client_certificates
from aio_apiserver.apiserver.tls.client_certificates import ClientCertificate, Untrusted

COMMON_NAME, ORGANIZATION = NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME
UID = x509.ObjectIdentifier("1.3.6.1.4.1.57683.2")
DAY = datetime.timedelta(days=1)
BEGINS = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
NOW = (BEGINS + DAY).timestamp()

KEY = ec.generate_private_key(ec.SECP256R1())


def certificate(
    *attributes: tuple[x509.ObjectIdentifier, str], days: int = 10, key: ec.EllipticCurvePrivateKey = KEY
) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(oid, value, _validate=False) for oid, value in attributes])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(7).not_valid_before(BEGINS).not_valid_after(BEGINS + days * DAY)
    return builder.sign(key, hashes.SHA256())


def encoded(one: x509.Certificate) -> bytes:
    return one.public_bytes(Encoding.DER)


def shown(*attributes: tuple[x509.ObjectIdentifier, str]) -> ClientCertificate:
    return client_certificates.read(encoded(certificate(*attributes)), ())


def test_the_common_name_is_the_user_and_organizations_are_groups() -> None:
    user = shown((ORGANIZATION, "a"), (ORGANIZATION, "b"), (COMMON_NAME, "alice")).user

    assert user is not None
    assert (user.name, user.groups) == ("alice", ("a", "b", "system:authenticated"))


def test_the_credential_is_known_by_its_fingerprint() -> None:
    one = certificate((COMMON_NAME, "alice"))

    user = client_certificates.read(encoded(one), ()).user

    assert user is not None
    assert user.extra == {
        "authentication.kubernetes.io/credential-id": (f"X509SHA256={one.fingerprint(hashes.SHA256()).hex()}",)
    }


def test_a_certificate_may_carry_a_uid() -> None:
    user = shown((COMMON_NAME, "alice"), (UID, "u-1")).user

    assert user is not None
    assert user.uid == "u-1"


def test_a_certificate_without_a_name_names_no_user() -> None:
    assert shown((ORGANIZATION, "a")).user is None


LEAF = certificate((COMMON_NAME, "alice"))
OTHER_KEY = ec.generate_private_key(ec.SECP256R1())
BETWEEN = certificate((COMMON_NAME, "between"), key=OTHER_KEY)
ROOT = certificate((COMMON_NAME, "root"), days=5)
VERIFIED = client_certificates.read(encoded(LEAF), [encoded(one) for one in (LEAF, BETWEEN, ROOT)])


@pytest.mark.parametrize("signer", [ROOT, BETWEEN])
def test_a_verified_certificate_is_valid_under_its_authorities(signer: x509.Certificate) -> None:
    VERIFIED.check(frozenset({client_certificates.authority(signer)}), NOW)


def test_a_ca_that_has_got_a_new_certificate_is_the_same() -> None:
    anew = certificate((COMMON_NAME, "root"), days=500)

    VERIFIED.check(frozenset({client_certificates.authority(anew)}), NOW)


@pytest.mark.parametrize(
    "other", [certificate((COMMON_NAME, "root"), key=OTHER_KEY), certificate((COMMON_NAME, "another"))]
)
def test_a_ca_of_another_name_or_key_is_another(other: x509.Certificate) -> None:
    with pytest.raises(Untrusted, match="SN=7 failed: x509: certificate signed by unknown authority"):
        VERIFIED.check(frozenset({client_certificates.authority(other)}), NOW)


def test_a_certificate_without_a_verified_chain_is_refused() -> None:
    unverified = client_certificates.read(encoded(LEAF), ())

    with pytest.raises(Untrusted, match="unknown authority"):
        unverified.check(frozenset({client_certificates.authority(LEAF)}), NOW)


@pytest.mark.parametrize("days", [-1.1, 5.1])
def test_a_chain_is_good_as_long_as_all_of_it_is(days: float) -> None:
    with pytest.raises(Untrusted, match="expired or is not yet valid"):
        VERIFIED.check(frozenset({client_certificates.authority(ROOT)}), BEGINS.timestamp() + days * 86400)


def test_what_is_above_the_authority_does_not_count() -> None:
    VERIFIED.check(frozenset({client_certificates.authority(BETWEEN)}), BEGINS.timestamp() + 7 * 86400)


@pytest.mark.parametrize(
    ("uids", "flaw"),
    [(("a", "b"), r"expected 1 UID, but found multiple: \[a b\]"), (("",), "cannot be an empty string")],
)
def test_an_invalid_uid_makes_a_certificate_unusable(uids: tuple[str, ...], flaw: str) -> None:
    one = certificate((COMMON_NAME, "alice"), *((UID, uid) for uid in uids))
    read = client_certificates.read(encoded(one), [encoded(one)])

    with pytest.raises(Untrusted, match=flaw):
        read.check(frozenset({client_certificates.authority(one)}), NOW)


def test_what_cannot_be_read_is_good_for_nothing() -> None:
    with pytest.raises(Untrusted, match="x509"):
        client_certificates.read(b"no certificate", [b"no certificate"]).check(frozenset(), NOW)
