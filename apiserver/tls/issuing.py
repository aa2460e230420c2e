"""Issuing: X.509 certificates of the server's own CA, as Kubernetes' clients and servers show them.

Pure: it knows no file and no clock. Must hold: a certificate for a server has names and serves servers, one for a
client has none and serves clients.
"""

import ipaddress
from collections.abc import Sequence
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Struct

_CA_LIFE = timedelta(days=3650)
_LIFE = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=30)
_CLOCK_SKEW = timedelta(minutes=5)
_LONG_LIFE = timedelta(hours=8)
_KEY_USAGES = {
    "signing": "digital_signature",
    "digital signature": "digital_signature",
    "content commitment": "content_commitment",
    "key encipherment": "key_encipherment",
    "data encipherment": "data_encipherment",
    "key agreement": "key_agreement",
    "cert sign": "key_cert_sign",
    "crl sign": "crl_sign",
    "encipher only": "encipher_only",
    "decipher only": "decipher_only",
}
_PURPOSES = {
    "any": ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
    "server auth": ExtendedKeyUsageOID.SERVER_AUTH,
    "client auth": ExtendedKeyUsageOID.CLIENT_AUTH,
    "code signing": ExtendedKeyUsageOID.CODE_SIGNING,
    "email protection": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "s/mime": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "timestamping": ExtendedKeyUsageOID.TIME_STAMPING,
    "ocsp signing": ExtendedKeyUsageOID.OCSP_SIGNING,
}
"""The usages of certificates by Kubernetes' names."""
CA_NAME = "aio-apiserver-ca@"


class SignedPair(Struct, frozen=True):
    """A certificate and its key, in memory."""

    certificate: x509.Certificate
    key: CertificateIssuerPrivateKeyTypes


def make_ca(now: datetime) -> SignedPair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = subject(f"{CA_NAME}{int(now.timestamp())}")
    builder = (
        _builder(name, name, key, now=now, life=_CA_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_usage("digital signature", "cert sign", "crl sign"), critical=True)
    )
    return SignedPair(builder.sign(key, hashes.SHA256()), key)


def issue(
    ca: SignedPair, name: x509.Name, hosts: Sequence[str], now: datetime, *, life: timedelta = _LIFE
) -> SignedPair:
    """A certificate for a server (with hosts) or a client (without), signed by the CA. It ends with the CA at the
    latest.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    purpose = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        _builder(name, ca.certificate.subject, key, now=now, life=min(life, ca.certificate.not_valid_after_utc - now))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage("digital signature"), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key()), critical=False)
    )
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName(_alternatives(hosts)), critical=False)
    return SignedPair(builder.sign(ca.key, hashes.SHA256()), key)


def sign(ca: SignedPair, request: bytes, usages: Sequence[str], now: datetime, life: timedelta) -> bytes:
    """The certificate for a request, both as PEM: its subject and names, with the given usages.

    As in kube-controller-manager, it begins five minutes ago, and a long life is counted from then. It ends with the CA
    at the latest.
    """
    read = x509.load_pem_x509_csr(request)
    end = now + life - (_CLOCK_SKEW if life >= _LONG_LIFE else timedelta())
    builder = (
        x509.CertificateBuilder()
        .subject_name(read.subject)
        .issuer_name(ca.certificate.subject)
        .public_key(read.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(min(end, ca.certificate.not_valid_after_utc))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(*(one for one in usages if one in _KEY_USAGES)), critical=True)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key()), critical=False)
    )
    purposes = [_PURPOSES[one] for one in usages if one in _PURPOSES]
    if purposes:
        builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
    try:
        names = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        builder = builder.add_extension(names, critical=False)
    except x509.ExtensionNotFound:
        pass  # a client has no names
    return builder.sign(ca.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _builder(
    name: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, *, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def is_ending(certificate: x509.Certificate, now: datetime) -> bool:
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return not begins <= now <= ends - _RENEW_BEFORE


def pem(signed: SignedPair) -> tuple[bytes, bytes]:
    """A certificate and its key."""
    key = signed.key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return signed.certificate.public_bytes(serialization.Encoding.PEM), key


def subject(common_name: str, *organizations: str) -> x509.Name:
    named = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization) for organization in organizations]
    return x509.Name([*named, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _usage(*usages: str) -> x509.KeyUsage:
    """The key usages, by Kubernetes' names."""
    wanted = {_KEY_USAGES[one] for one in usages}
    return x509.KeyUsage(**{name: name in wanted for name in _KEY_USAGES.values()})


def fits(certificate: x509.Certificate, ca: SignedPair, hosts: Sequence[str]) -> bool:
    """Whether the CA has signed a certificate, for at least these hosts."""
    try:
        certificate.verify_directly_issued_by(ca.certificate)
    except (ValueError, TypeError, InvalidSignature):
        return False
    if not hosts:
        return True
    try:
        named = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return False
    return set(_alternatives(hosts)) <= set(named)


def _alternatives(hosts: Sequence[str]) -> list[x509.GeneralName]:
    return [_alternative(host) for host in dict.fromkeys(hosts)]


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
