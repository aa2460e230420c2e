"""Client certificates: reads the client certificate of a connection, and checks it for each request.

The handshake verifies signatures and key usages, with all CAs of that time. Each request checks which CA counts and
whether the certificate has expired, because both change while a connection is open. Must hold: a certificate without a
chain verified by the handshake is refused.
"""

import hashlib
import ssl
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID
from msgspec import Struct

from aio_apiserver.base.kept_items import KeptByKey
from aio_apiserver.registry.generic.access.users import UserInfo, authenticated

_UID_OID = x509.ObjectIdentifier("1.3.6.1.4.1.57683.2")
_CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
_MOST_KNOWN = 4096
_MOST_BYTES = 64 * 1024 * 1024
_BYTES, _OF_CHAIN = 2_000, 3
"""The memory of a certificate with what was read in it: some bytes, and a multiple of its chain."""

Authorities = frozenset[bytes]
"""The CAs to trust, by their `authority`."""


class Untrusted(Exception):
    """A certificate that may not be used. The message is for logs."""


class ChainCertificate(NamedTuple):
    """A certificate in a chain, and the time in which it and all before it are valid, in seconds since the epoch."""

    authority: bytes
    begins: float
    ends: float


class ClientCertificate(Struct, frozen=True):
    """The facts of a client certificate. `user` is None when it names no user.

    links: from the client's certificate to that of its CA; empty without a verified chain. flaw: an error in its
    content.
    """

    serial: int = 0
    common_name: str = ""
    user: UserInfo | None = None
    ends: float = 0.0
    links: Sequence[ChainCertificate] = ()
    flaw: str = ""

    def check(self, authorities: Authorities, now: float) -> None:
        """Check that one of the authorities has signed it, and that it is valid at a time. Raises Untrusted."""
        if self.flaw:
            raise Untrusted(f"{self._named()}: {self.flaw}")
        for link in self.links:
            if link.authority in authorities:
                if link.begins <= now <= link.ends:
                    return
                raise Untrusted(f"{self._named()}: x509: certificate has expired or is not yet valid")
        raise Untrusted(f"{self._named()}: x509: certificate signed by unknown authority")

    def _named(self) -> str:
        return f"verifying certificate SN={self.serial} failed"


def authority(certificate: x509.Certificate) -> bytes:
    """The identity of a CA: its name and its key. A renewed CA certificate has the same identity."""
    key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(certificate.subject.public_bytes() + key).digest()


def authorities_in(bundles: Iterable[bytes]) -> Authorities:
    """The authorities in PEM bundles. Raises ValueError."""
    return frozenset(authority(one) for bundle in bundles for one in x509.load_pem_x509_certificates(bundle))


class ClientCertificates:
    """The certificates of connections. Each certificate is parsed once.

    A resumed TLS session has the certificate but not its chain. The chain of the first connection counts for it.
    """

    def __init__(self) -> None:
        self._known: KeptByKey[bytes, tuple[Sequence[bytes], ClientCertificate]] = KeptByKey(_MOST_BYTES, _MOST_KNOWN)

    def of(self, tls: ssl.SSLObject) -> ClientCertificate | None:
        """The certificate of a connection; None without one."""
        encoded = tls.getpeercert(binary_form=True)
        if not encoded:
            return None
        chain = _chain_of(tls)
        known = self._known.get(encoded)
        if known is not None and chain in (known[0], ()):
            return known[1]
        certificate = read(encoded, chain)
        if chain:
            self._known.put(encoded, (chain, certificate), _BYTES + _OF_CHAIN * sum(map(len, chain)))
        return certificate


def read(encoded: bytes, chain: Sequence[bytes]) -> ClientCertificate:
    """Parse a certificate in DER, with the verified chain that it begins."""
    try:
        certificate = x509.load_der_x509_certificate(encoded)
        links = tuple(_links(chain))
    except (ValueError, UnsupportedAlgorithm) as exc:
        return ClientCertificate(flaw=f"x509: {exc}")
    name, uids = _values(certificate, NameOID.COMMON_NAME)[-1:], _values(certificate, _UID_OID)
    return ClientCertificate(
        serial=certificate.serial_number,
        common_name="".join(name),
        user=_user_of(certificate, name[0], uids, encoded) if any(name) else None,
        ends=certificate.not_valid_after_utc.timestamp(),
        links=links,
        flaw=_flaw_of(uids),
    )


def _flaw_of(uids: Sequence[str]) -> str:
    if len(uids) > 1:
        return f"expected 1 UID, but found multiple: [{' '.join(uids)}]"
    return "UID cannot be an empty string" if uids == [""] else ""


def _user_of(certificate: x509.Certificate, name: str, uids: Sequence[str], encoded: bytes) -> UserInfo:
    groups = _values(certificate, NameOID.ORGANIZATION_NAME)
    fingerprint = f"X509SHA256={hashlib.sha256(encoded).hexdigest()}"
    extra = {_CREDENTIAL_ID: (fingerprint,)}
    return authenticated(UserInfo(name=name, uid="".join(uids), groups=tuple(groups), extra=extra))


def _values(certificate: x509.Certificate, attribute: x509.ObjectIdentifier) -> list[str]:
    return [str(one.value) for one in certificate.subject.get_attributes_for_oid(attribute)]


def _links(chain: Iterable[bytes]) -> Iterator[ChainCertificate]:
    begins, ends = float("-inf"), float("inf")
    for encoded in chain:
        certificate = x509.load_der_x509_certificate(encoded)
        begins = max(begins, certificate.not_valid_before_utc.timestamp())
        ends = min(ends, certificate.not_valid_after_utc.timestamp())
        yield ChainCertificate(authority(certificate), begins, ends)


def _chain_of(tls: ssl.SSLObject) -> tuple[bytes, ...]:
    """The chain that the handshake has verified, in DER: the client's certificate first, its CA's last."""
    read_chain: Any = getattr(tls, "get_verified_chain", None)
    if read_chain is not None:
        return tuple(read_chain() or ())
    inner: Any = getattr(tls, "_sslobj", None)  # before Python 3.13 the ssl module has it inside only
    return tuple(ssl.PEM_cert_to_DER_cert(one.public_bytes()) for one in inner.get_verified_chain() or ())
