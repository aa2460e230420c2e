"""Certificates: the server's own CA, its serving certificate, and client certificates that the CA signs.

They are made once and kept in --cert-dir, so that a start makes no keys and clients trust the same CA. It knows files
and X.509, but no HTTP. Must hold: keys have mode 0600. A certificate is made again when it is near its end, does not
fit its key, or lacks a name. A serving certificate of another CA stays. Several processes with one directory use one
CA. A file is complete or does not exist.
"""

import fcntl
import hashlib
import ipaddress
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Struct

from aio_apiserver.apiserver.tls import files
from aio_apiserver.registry.generic.access.users import MASTERS
from aio_apiserver.storage.clock import Clock

_CA_LIFE = timedelta(days=3650)
_LIFE = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=30)
_CLOCK_SKEW = timedelta(minutes=5)
_CA_NAME = "aio-apiserver-ca@"
_SERVER = "apiserver"
ADMIN = "kubernetes-admin"


class KeyPair(Struct, frozen=True):
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


class Pki(Struct, frozen=True):
    """The files of the directory. `admin_token` is a bearer token for the same user as `admin`.

    `authority` is the certificate with which clients verify the server.
    """

    ca: KeyPair
    server: KeyPair
    authority: Path
    admin: KeyPair
    admin_token: str


class _Signed(Struct, frozen=True):
    """A certificate and its key, in memory."""

    certificate: x509.Certificate
    key: CertificateIssuerPrivateKeyTypes


def ensure(directory: Path, hosts: Sequence[str], clock: Clock) -> Pki:
    """The files of the directory, made or renewed where needed. `hosts` are names and addresses."""
    files.make_private(directory)
    with _locked(directory):
        maker = _Maker(directory, datetime.fromtimestamp(clock.now(), UTC))
        ca = maker.ca()
        admin = maker.signed("admin", ca, _name(ADMIN, MASTERS), ())
        server, authority = maker.files(_SERVER), maker.files("ca").certificate
        if maker.has_foreign(_SERVER):
            authority = server.certificate
        else:
            maker.signed(_SERVER, ca, _name("kube-apiserver"), hosts)
        return Pki(maker.files("ca"), server, authority, admin, maker.token("admin.token"))


def of_client(directory: Path, user: str, groups: Sequence[str], clock: Clock) -> KeyPair:
    """A client certificate for another user, signed by the CA in the directory."""
    digest = hashlib.sha256("\0".join((user, *groups)).encode()).hexdigest()
    with _locked(directory):
        maker = _Maker(directory, datetime.fromtimestamp(clock.now(), UTC))
        return maker.signed(f"client-{digest[:16]}", maker.ca(), _name(user, *groups), ())


class _Maker:
    """Reads and makes the files of one directory, at one time."""

    def __init__(self, directory: Path, now: datetime) -> None:
        self._directory = directory
        self._now = now

    def files(self, name: str) -> KeyPair:
        return KeyPair(self._directory / f"{name}.crt", self._directory / f"{name}.key")

    def ca(self) -> _Signed:
        """The CA in the directory, or a new one."""
        found = self._read("ca")
        if found is not None and not self._is_ending(found.certificate):
            return found
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name(f"{_CA_NAME}{int(self._now.timestamp())}")
        builder = (
            self._builder(name, name, key, life=_CA_LIFE)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(is_ca=True), critical=True)
        )
        made = _Signed(builder.sign(key, hashes.SHA256()), key)
        self._write("ca", made)
        return made

    def has_foreign(self, name: str) -> bool:
        """Whether a certificate was signed by another CA."""
        found = self._read(name)
        return found is not None and _CA_NAME not in found.certificate.issuer.rfc4514_string()

    def signed(self, name: str, ca: _Signed, subject: x509.Name, hosts: Sequence[str]) -> KeyPair:
        """A certificate for a server (with hosts) or a client (without), signed by the CA."""
        found = self._read(name)
        if found is None or self._is_ending(found.certificate) or not _fits(found.certificate, ca, hosts):
            self._write(name, self._issue(ca, subject, hosts))
        return self.files(name)

    def token(self, name: str) -> str:
        """The token in a file, or a new random token."""
        path = self._directory / name
        if not path.exists():
            files.put(path, secrets.token_urlsafe(32).encode())
        return path.read_text().strip()

    def _issue(self, ca: _Signed, subject: x509.Name, hosts: Sequence[str]) -> _Signed:
        key = ec.generate_private_key(ec.SECP256R1())
        purpose = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
        builder = (
            self._builder(subject, ca.certificate.subject, key, life=_LIFE)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(is_ca=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key()), critical=False)
        )
        if hosts:
            builder = builder.add_extension(x509.SubjectAlternativeName(_alternatives(hosts)), critical=False)
        return _Signed(builder.sign(ca.key, hashes.SHA256()), key)

    def _builder(
        self, subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, *, life: timedelta
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _CLOCK_SKEW)
            .not_valid_after(self._now + life)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )

    def _is_ending(self, certificate: x509.Certificate) -> bool:
        begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
        return not begins <= self._now <= ends - _RENEW_BEFORE

    def _read(self, name: str) -> _Signed | None:
        """A certificate and its key from the files; None when one is missing or they do not belong together."""
        pair = self.files(name)
        try:
            certificate = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
            key = serialization.load_pem_private_key(pair.key.read_bytes(), password=None)
        except (FileNotFoundError, ValueError):
            return None
        if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
            return None
        if key.public_key() != certificate.public_key():
            return None
        return _Signed(certificate, key)

    def _write(self, name: str, made: _Signed) -> None:
        pair = self.files(name)
        private = made.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        files.put(pair.key, private)
        files.put(pair.certificate, made.certificate.public_bytes(serialization.Encoding.PEM))


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _name(common_name: str, *organizations: str) -> x509.Name:
    named = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization) for organization in organizations]
    return x509.Name([*named, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _usage(*, is_ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_ca,
        crl_sign=is_ca,
        encipher_only=False,
        decipher_only=False,
    )


def _fits(certificate: x509.Certificate, ca: _Signed, hosts: Sequence[str]) -> bool:
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
