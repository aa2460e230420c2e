"""Certified users: those that a client certificate names, and those of whom a front proxy speaks that has one.

Must hold: a certificate of the proxies' CA makes nobody a user, and one of the users' CA nobody a proxy, unless both
are the same CA; which CAs those are may change while the server runs.
"""

from collections.abc import Iterable

from msgspec import Struct

from aio_apiserver.apiserver.tls.client_certificates import Authorities, ClientCertificate, Untrusted
from aio_apiserver.registry.generic.access.users import UserInfo, authenticated
from aio_apiserver.registry.plugins.authentication.front_proxy import FrontProxy


class Trusted(Struct, frozen=True):
    """Whose signatures make users, and whose make proxies. The operator's bundles are for others to know, in PEM."""

    users: Authorities = frozenset()
    proxies: Authorities = frozenset()
    users_bundle: bytes = b""
    proxies_bundle: bytes = b""


class CertifiedUsers:
    """Without `proxy`, nobody speaks for others."""

    def __init__(self, proxy: FrontProxy | None, trusted: Trusted) -> None:
        self._proxy = proxy
        self.trusted = trusted
        """Replaced as a whole."""

    def user_of(
        self, certificate: ClientCertificate, headers: Iterable[tuple[str, str]], now: float
    ) -> UserInfo | None:
        """Who asks, at a time; None when a good certificate names nobody. Raises Untrusted."""
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
        """The user of whom a proxy speaks; None when it speaks of nobody. Raises Untrusted."""
        if self._proxy is None:
            return None
        certificate.check(self.trusted.proxies, now)
        if not self._proxy.trusts(certificate.common_name):
            raise Untrusted(f"x509: subject with cn={certificate.common_name} is not in the allowed list")
        user = self._proxy.user_of(headers)
        return authenticated(user) if user is not None else None
