"""Certificates: the server's own CA, its serving certificate, and client certificates that the CA signs.

They are made once and kept in --cert-dir, so that a start makes no keys and clients trust the same CA. It knows files
and X.509, but no HTTP. Must hold: keys have mode 0600. A certificate is made again when it is near its end, does not
fit its key, or lacks a name. A serving certificate of another CA stays. Several processes with one directory use one
CA. A file is complete or does not exist.

While the CA is rotated, `ca.crt` has both CAs: the old one, which signs serving certificates until the end of the
rotation, comes first. `next-ca.crt` and `next-ca.key` are the new one, which signs the client certificates by then.
When the rotation ends, the new CA signs the serving certificate first. Then the old one leaves `ca.crt`.
"""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from msgspec import Struct

from aio_apiserver.apiserver.tls import issuing
from aio_apiserver.apiserver.tls.issuing import SignedPair
from aio_apiserver.base import private_files
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.generic.access.users import MASTERS

_CA, _NEXT_CA = "ca", "next-ca"
_SERVER = "apiserver"
_TOKEN, _TOKENS = "admin.token", "admin.tokens"
_BEGINS = "-----BEGIN CERTIFICATE-----"
_KEY_BEGINS = "-----BEGIN PRIVATE KEY-----"
ADMIN = "kubernetes-admin"


class KeyPair(Struct, frozen=True):
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


class Pki(Struct, frozen=True):
    """The files of the directory. `admin_token` is a bearer token for the same user as `admin`.

    `authority` is the certificate with which clients verify the server. `admin_tokens`: all tokens that are
    accepted, the replaced ones included.
    """

    ca: KeyPair
    server: KeyPair
    authority: Path
    admin: KeyPair
    admin_token: str
    admin_tokens: Sequence[str]


def ensure(directory: Path, hosts: Sequence[str], clock: Clock) -> Pki:
    """The files of the directory, made or renewed where needed. `hosts` are names and addresses."""
    private_files.make_private(directory)
    with private_files.locked(directory):
        maker = _Maker(directory, datetime.fromtimestamp(clock.now(), UTC))
        ca = maker.ca()
        admin = maker.signed("admin", maker.clients_ca(), issuing.subject(ADMIN, MASTERS), ())
        server, authority = maker.files(_SERVER), maker.files(_CA).certificate
        if maker.has_foreign(_SERVER):
            authority = server.certificate
        else:
            maker.signed(_SERVER, ca, issuing.subject("kube-apiserver"), hosts)
        return Pki(maker.files(_CA), server, authority, admin, maker.token(), maker.tokens())


def of_client(directory: Path, user: str, groups: Sequence[str], clock: Clock) -> KeyPair:
    """A client certificate for another user, signed by the CA in the directory."""
    digest = hashlib.sha256("\0".join((user, *groups)).encode()).hexdigest()
    with private_files.locked(directory):
        maker = _Maker(directory, datetime.fromtimestamp(clock.now(), UTC))
        return maker.signed(f"client-{digest[:16]}", maker.clients_ca(), issuing.subject(user, *groups), ())


def issued(directory: Path, user: str, groups: Sequence[str], clock: Clock, *, seconds: float) -> tuple[bytes, bytes]:
    """A client certificate and its key as PEM, which no file keeps, signed by the CA in the directory."""
    with private_files.locked(directory):
        maker = _Maker(directory, datetime.fromtimestamp(clock.now(), UTC))
        life = timedelta(seconds=seconds)
        return issuing.pem(issuing.issue(maker.clients_ca(), issuing.subject(user, *groups), (), maker.now, life=life))


def authority(directory: Path) -> Path:
    """The certificate in the directory with which clients verify the serving certificate."""
    maker = _Maker(directory, datetime.now(UTC))
    return maker.files(_SERVER if maker.has_foreign(_SERVER) else _CA).certificate


def has_ca(directory: Path) -> bool:
    return all(path.exists() for path in (directory / f"{_CA}.crt", directory / f"{_CA}.key"))


def sign(directory: Path, clock: Clock, request: bytes, usages: Sequence[str], seconds: float) -> bytes:
    """The certificate for a certificate request, both as PEM, signed by the CA of clients in the directory."""
    with private_files.locked(directory):
        maker = _Maker(directory, datetime.fromtimestamp(clock.now(), UTC))
        return issuing.sign(maker.clients_ca(), request, usages, maker.now, timedelta(seconds=seconds))


def own_ca(directory: Path, clock: Clock) -> str:
    """The CA in the directory as PEM, the certificate before the key; a new one when there is none, or when it ends."""
    private_files.make_private(directory)
    with private_files.locked(directory):
        certificate, key = issuing.pem(_Maker(directory, datetime.fromtimestamp(clock.now(), UTC)).ca())
    return (certificate + key).decode()


def new_ca(clock: Clock) -> str:
    """A new CA as PEM, in no directory."""
    certificate, key = issuing.pem(issuing.make_ca(datetime.fromtimestamp(clock.now(), UTC)))
    return (certificate + key).decode()


def is_ending(ca: str, clock: Clock) -> bool:
    """Whether a CA as PEM is near its end."""
    return issuing.is_ending(x509.load_pem_x509_certificate(ca.encode()), datetime.fromtimestamp(clock.now(), UTC))


def put_cas(directory: Path, cas: Sequence[str], *, of_clients: str) -> bool:
    """Replace the CAs in the directory: the first one signs serving certificates, all are trusted.

    of_clients: the one that signs client certificates. A CA that leaves stays trusted until the serving certificate is
    signed by its successor: call it again then. Returns whether a file has changed.
    """
    parts = [_parts(ca) for ca in cas]
    signing, certificates = parts[0], [part.certificate for part in parts]
    private_files.make_private(directory)
    with private_files.locked(directory):
        bundle = "".join([*certificates, *_leaving(directory, certificates)])
        changed = _put_pair(directory, _CA, _Pem(bundle, signing.key))
        if of_clients == cas[0]:
            return _remove(directory / f"{_NEXT_CA}.key", directory / f"{_NEXT_CA}.crt") or changed
        return _put_pair(directory, _NEXT_CA, _parts(of_clients)) or changed


def drop_serving(directory: Path) -> None:
    """Remove the serving certificate, so that the next server on the directory has one of its present CA."""
    with private_files.locked(directory):
        _remove(directory / f"{_SERVER}.crt", directory / f"{_SERVER}.key")


def own_token(directory: Path) -> str:
    """The administrator's token in the directory; a new one when there is none."""
    private_files.make_private(directory)
    with private_files.locked(directory):
        return _Maker(directory, datetime.now(UTC)).token()


def new_token() -> str:
    return secrets.token_urlsafe(32)


def put_tokens(directory: Path, token: str, accepted: Sequence[str]) -> bool:
    """Replace the administrator's token, and those that are accepted as well. Returns whether a file has changed."""
    private_files.make_private(directory)
    with private_files.locked(directory):
        changed = private_files.put_changed(directory / _TOKEN, token.encode())
        if len(accepted) == 1:
            return _remove(directory / _TOKENS) or changed
        return private_files.put_changed(directory / _TOKENS, "\n".join(accepted).encode()) or changed


class _Maker:
    """Reads and makes the files of one directory, at one time."""

    def __init__(self, directory: Path, now: datetime) -> None:
        self._directory = directory
        self.now = now

    def files(self, name: str) -> KeyPair:
        return KeyPair(self._directory / f"{name}.crt", self._directory / f"{name}.key")

    def ca(self) -> SignedPair:
        """The CA in the directory, or a new one."""
        found = self._read(_CA)
        if found is not None and not issuing.is_ending(found.certificate, self.now):
            return found
        made = issuing.make_ca(self.now)
        self._write(_CA, made)
        return made

    def clients_ca(self) -> SignedPair:
        """The CA that signs client certificates: the new one during a rotation."""
        return self._read(_NEXT_CA) or self.ca()

    def has_foreign(self, name: str) -> bool:
        """Whether a certificate was signed by another CA."""
        found = self._read(name)
        return found is not None and issuing.CA_NAME not in found.certificate.issuer.rfc4514_string()

    def signed(self, name: str, ca: SignedPair, subject: x509.Name, hosts: Sequence[str]) -> KeyPair:
        """A certificate for a server (with hosts) or a client (without), signed by the CA."""
        found = self._read(name)
        if (
            found is None
            or issuing.is_ending(found.certificate, self.now)
            or not issuing.fits(found.certificate, ca, hosts)
        ):
            self._write(name, issuing.issue(ca, subject, hosts, self.now))
        return self.files(name)

    def token(self) -> str:
        """The administrator's token: the one that is there, or a new one."""
        path = self._directory / _TOKEN
        if not path.exists():
            private_files.put(path, new_token().encode())
        return path.read_text().strip()

    def tokens(self) -> Sequence[str]:
        """All tokens of the administrator that are accepted."""
        path = self._directory / _TOKENS
        accepted = path.read_text().split() if path.exists() else ()
        return tuple(dict.fromkeys([self.token(), *accepted]))

    def _read(self, name: str) -> SignedPair | None:
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
        return SignedPair(certificate, key)

    def _write(self, name: str, made: SignedPair) -> None:
        pair = self.files(name)
        certificate, key = issuing.pem(made)
        private_files.put(pair.key, key)
        private_files.put(pair.certificate, certificate)


class _Pem(NamedTuple):
    """A certificate, or several, and a key as PEM."""

    certificate: str
    key: str


def _parts(ca: str) -> _Pem:
    """The parts of a CA as PEM, which has its certificate before its key."""
    certificate, marker, key = ca.partition(_KEY_BEGINS)
    return _Pem(certificate, marker + key)


def _leaving(directory: Path, certificates: Sequence[str]) -> Sequence[str]:
    """The CA in the present bundle that has a successor there, and still is the issuer of the serving certificate."""
    bundle, serving = directory / f"{_CA}.crt", directory / f"{_SERVER}.crt"
    if not bundle.exists() or not serving.exists():
        return ()
    present = [f"{_BEGINS}{text}" for text in bundle.read_text().split(_BEGINS)[1:]]
    if not set(certificates) <= set(present):
        return ()
    served = x509.load_pem_x509_certificate(serving.read_bytes())
    return [pem for pem in present if pem not in certificates and _has_issued(pem, served)]


def _has_issued(ca: str, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(ca.encode()))
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _put_pair(directory: Path, name: str, pem: _Pem) -> bool:
    key_changed = private_files.put_changed(directory / f"{name}.key", pem.key.encode())
    return private_files.put_changed(directory / f"{name}.crt", pem.certificate.encode()) or key_changed


def _remove(*paths: Path) -> bool:
    """Whether one was there."""
    there = [path for path in paths if path.exists()]
    for path in there:
        path.unlink()
    return bool(there)
