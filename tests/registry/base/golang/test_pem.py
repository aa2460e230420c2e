"""PEM: certificate requests."""

import base64
from collections.abc import Sequence

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

from aio_apiserver.registry.base.golang import pem
from aio_apiserver.registry.base.golang.pem import PemError

SIGNED_WITH_SHA_1 = b"""\
-----BEGIN CERTIFICATE REQUEST-----
MIIBSzCBtQIBADAMMQowCAYDVQQDDAFhMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCB
iQKBgQDEugOBMxj2t6nKWH7OQy1HbpSzCniFU9+cblGimmZDqhkP8ZCV5mdr+PIA
msvxWvNjorXScaFV96k7PS1g856s50XhkEU3NVxGaSq4tagfb3Wj4jDSDr1ShA5H
456LRG45V0FLdEINPCYRJQy9SkLMUhFHCOm8IwEg1U3Qm9XFUQIDAQABoAAwDQYJ
KoZIhvcNAQEFBQADgYEAjPQhdKm0Q5nWo07Yge8r4TZ6FQv1qooz9EF1+o18KPA7
REzNJ2s9tA641RdD/mvmZ2L9oSM2qkfhwECFhSGD5EOTtvdqUNPVptPvPDiN1lAW
rKVxfvyhFxLhLeew4wuy0x7yPDiTfwCZaH+nYcBKJWgMM7HdJDX/NM8nwpSYo5Y=
-----END CERTIFICATE REQUEST-----
"""


def request(*organizations: str) -> bytes:
    names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, one) for one in organizations]
    subject = x509.Name([*names, x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    made = x509.CertificateSigningRequestBuilder().subject_name(subject)
    return made.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def test_a_request_tells_its_groups() -> None:
    read = pem.read_request(b"text before\n" + request("devs", "ops"))

    pem.check_signature(read)
    organizations: Sequence[str] = pem.organizations(read)
    assert list(organizations) == ["devs", "ops"]


@pytest.mark.parametrize(
    "data",
    [b"", b"not pem", b"-----BEGIN CERTIFICATE REQUEST-----\n", b"-----BEGIN X-----\naGk=\n-----END X-----\n"],
)
def test_what_is_no_request_is_refused(data: bytes) -> None:
    with pytest.raises(PemError, match="PEM block type must be CERTIFICATE REQUEST"):
        pem.read_request(data)


def test_a_request_that_is_cut_is_refused() -> None:
    cut = request().replace(b"\n", b"", 1)[:-60] + b"\n-----END CERTIFICATE REQUEST-----\n"

    with pytest.raises(PemError):
        pem.read_request(cut)


@pytest.mark.parametrize("key", [rsa.generate_private_key(65537, 2048), ed25519.Ed25519PrivateKey.generate()])
def test_requests_of_all_sorts_of_keys_are_known(key: rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey) -> None:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    algorithm = hashes.SHA256() if isinstance(key, rsa.RSAPrivateKey) else None
    made = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, algorithm)

    pem.check_signature(pem.read_request(made.public_bytes(serialization.Encoding.PEM)))


def test_a_request_may_be_signed_with_sha_1() -> None:
    pem.check_signature(pem.read_request(SIGNED_WITH_SHA_1))
    with pytest.raises(PemError, match="crypto/rsa: verification error"):
        pem.check_signature(pem.read_request(forged(SIGNED_WITH_SHA_1)))


def test_a_forged_request_is_found_out() -> None:
    data = forged(request())

    with pytest.raises(PemError):
        pem.check_signature(pem.read_request(data))


def forged(data: bytes) -> bytes:
    """The request with the last byte of its signature changed."""
    der = bytearray(x509.load_pem_x509_csr(data).public_bytes(serialization.Encoding.DER))
    der[-1] ^= 1
    body = base64.b64encode(bytes(der)).decode()
    return f"-----BEGIN CERTIFICATE REQUEST-----\n{body}\n-----END CERTIFICATE REQUEST-----\n".encode()


def test_blocks_with_headers_are_no_certificates() -> None:
    data = b"-----BEGIN CERTIFICATE-----\nA: b\n\naGk=\n-----END CERTIFICATE-----\n"

    with pytest.raises(PemError, match="no PEM block headers are permitted"):
        pem.check_certificates(data)


def test_base64_with_more_padding_than_it_needs_is_no_block() -> None:
    with pytest.raises(PemError, match="PEM block type must be CERTIFICATE REQUEST"):
        pem.read_request(b"-----BEGIN CERTIFICATE REQUEST-----\nMIIC==\n-----END CERTIFICATE REQUEST-----\n")
