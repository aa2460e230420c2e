"""Front proxies by their certificates: who may tell in headers who asks.

Must hold: a certificate of the proxies' CA makes nobody a user, and one of the users' CA nobody a proxy, unless both
are the same CA.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from apiserver.connections import Connection
from registry.access.front_proxy import FrontProxy
from registry.access.users import UserInfo, authenticated


@dataclass(frozen=True, slots=True)
class FrontProxies:
    """What is accepted, and of whom. Authorities are certificates in DER."""

    proxy: FrontProxy
    authorities: frozenset[bytes]
    user_authorities: frozenset[bytes]

    @classmethod
    def read(cls, proxy: FrontProxy, authority: Path, user_authorities: Iterable[Path]) -> "FrontProxies":
        """With the CAs of files. Raises OSError, ValueError."""
        users = frozenset().union(*map(_certificates, user_authorities))
        return cls(proxy, _certificates(authority), users)

    def user_of(self, connection: Connection, headers: Iterable[tuple[str, str]]) -> UserInfo | None:
        """The user of whom a proxy speaks; None when it is no proxy, or speaks of nobody."""
        chain = connection.certificate_chain
        if self.authorities.isdisjoint(chain) or not self.proxy.trusts(_common_name(chain[0])):
            return None
        user = self.proxy.user_of(headers)
        return authenticated(user) if user is not None else None

    def is_user(self, connection: Connection) -> bool:
        """Whether a connection's certificate is one of users."""
        return not self.user_authorities.isdisjoint(connection.certificate_chain)


def _certificates(path: Path) -> frozenset[bytes]:
    certificates = x509.load_pem_x509_certificates(path.read_bytes())
    return frozenset(certificate.public_bytes(Encoding.DER) for certificate in certificates)


def _common_name(encoded: bytes) -> str:
    names = x509.load_der_x509_certificate(encoded).subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[-1].value) if names else ""
