"""Certified users: the user of a client certificate, or the user that a front proxy with a client certificate names.

Must hold: the CA of users does not make proxies, and the CA of proxies does not make users, unless both are the same
CA. The CAs may change while the server runs.
"""

from collections.abc import Iterable

from msgspec import Struct

from aio_apiserver.apiserver.tls.client_certificates import Authorities, ClientCertificate, Untrusted
from aio_apiserver.registry.generic.access.users import UserInfo, authenticated
from aio_apiserver.registry.plugins.authentication.front_proxy import FrontProxy


class Trusted(Struct, frozen=True):
    """The CAs of users and of front proxies. The bundles are the flags' files in PEM, for publication."""

    users: Authorities = frozenset()
    proxies: Authorities = frozenset()
    users_bundle: bytes = b""
    proxies_bundle: bytes = b""


class CertifiedUsers:
    """Finds the user of a certificate. Without `proxy`, no front proxy is accepted."""

    def __init__(self, proxy: FrontProxy | None, trusted: Trusted) -> None:
        self._proxy = proxy
        self.trusted = trusted
        """Replaced as a whole."""

    def user_of(
        self, certificate: ClientCertificate, headers: Iterable[tuple[str, str]], now: float
    ) -> UserInfo | None:
        """The user of a request at a time; None when a valid certificate names no user. Raises Untrusted."""
        wrong: list[str] = []
        try:
            if (user := self._spoken_of(certificate, headers, now)) is not None:
                return user
        except Untrusted as exc:
            wrong.append(str(exc))
        try:
            certificate.check(self.trusted.users, now)
        except Untrusted as exc:
            wrong.append(str(exc))
        else:
            if certificate.user is not None:
                return certificate.user
        if wrong:
            raise Untrusted("; ".join(dict.fromkeys(wrong)))
        return None

    def _spoken_of(
        self, certificate: ClientCertificate, headers: Iterable[tuple[str, str]], now: float
    ) -> UserInfo | None:
        """The user that a front proxy names; None when it names none. Raises Untrusted."""
        if self._proxy is None:
            return None
        certificate.check(self.trusted.proxies, now)
        if not self._proxy.trusts(certificate.common_name):
            raise Untrusted(f"x509: subject with cn={certificate.common_name} is not in the allowed list")
        user = self._proxy.user_of(headers)
        return authenticated(user) if user is not None else None
