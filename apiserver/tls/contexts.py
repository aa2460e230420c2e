"""TLS: what the secure port shows and asks for, as the files have it now, and the names that the server has.

Must hold: a client without a certificate gets in (it may have a token); one with a certificate only if it was signed
by the server's own CA or one of --client-ca-file or --requestheader-client-ca-file; whether that certificate is good
now, the time included, is asked for each request (client_certificates.py). HTTP/1.1 is all that is offered.
"""

import socket
import ssl
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.config.tls_names import CIPHERS, TLS_VERSIONS
from aio_apiserver.apiserver.tls.certificates import Pki

_CLUSTER_NAMES = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_NO_CHECK_TIME = ssl.VerifyFlags(0x200000)
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME: who comes with an expired certificate is told so by a 401."""


class ServingTLS:
    """The TLS of the secure port. Connections that are open keep what they have begun with."""

    def __init__(self, settings: Settings, pki: Pki) -> None:
        """Raises OSError or ValueError when a file is not what it should be."""
        self._settings = settings
        self.context = _context(settings, pki)
        """For the listener: a handshake that begins goes on with the newest one."""
        self._newest = self.context
        self.context.sni_callback = self._choose

    def load(self, pki: Pki) -> None:
        """Take over what the files have now. Raises OSError or ValueError, and leaves everything as it was."""
        self._newest = _context(self._settings, pki)

    def _choose(self, handshake: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        handshake.context = self._newest


class _Handshake(ssl.SSLObject):
    """Tells the client that its certificate is not accepted: event loops hang up at once, and it would see the end."""

    _refusal: ssl.SSLCertVerificationError | None = None

    def do_handshake(self) -> None:
        if self._refusal is not None:
            raise self._refusal
        try:
            super().do_handshake()
        except ssl.SSLCertVerificationError as exc:
            self._refusal = exc
            raise ssl.SSLWantReadError from exc


def _context(settings: Settings, pki: Pki) -> ssl.SSLContext:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.sslobject_class = _Handshake
    tls.minimum_version = ssl.TLSVersion[TLS_VERSIONS[settings.tls_min_version]]
    tls.set_alpn_protocols(["http/1.1"])
    _limit_ciphers(tls, settings.tls_cipher_suites)
    tls.verify_mode = ssl.CERT_OPTIONAL
    tls.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_TIME
    tls.load_cert_chain(*_shown(settings, pki))
    for bundle in (*user_bundles(settings, pki), *proxy_bundles(settings)):
        tls.load_verify_locations(cafile=bundle)
    return tls


def files(settings: Settings, pki: Pki) -> Sequence[Path]:
    """All that the TLS of the secure port is made of."""
    return [*_shown(settings, pki), *user_bundles(settings, pki), *proxy_bundles(settings)]


def _shown(settings: Settings, pki: Pki) -> tuple[Path, Path]:
    """The certificate of the server, and its key."""
    return settings.tls_cert_file or pki.server.certificate, settings.tls_private_key_file or pki.server.key


def user_bundles(settings: Settings, pki: Pki) -> Sequence[Path]:
    """The CAs whose certificates make users."""
    return [pki.ca.certificate, *filter(None, [settings.client_ca_file])]


def proxy_bundles(settings: Settings) -> Sequence[Path]:
    """The CAs whose certificates make front proxies."""
    return list(filter(None, [settings.requestheader_client_ca_file]))


def authority(settings: Settings, pki: Pki) -> Path:
    """What clients check the serving certificate with."""
    return settings.tls_cert_file or pki.authority


def hosts(settings: Settings) -> list[str]:
    """Every name and address that a client may call the server by."""
    first_service_addresses = [str(network[1]) for network in settings.service_cluster_ip_range]
    given = (settings.bind_address, settings.advertise_address, settings.external_hostname)
    names = (*_LOCAL_NAMES, *_CLUSTER_NAMES, *first_service_addresses, socket.gethostname(), *given)
    return [name for name in dict.fromkeys(names) if name and name.isascii() and not _is_unspecified(name)]


def local_address(settings: Settings) -> str:
    """The address by which this machine reaches the server, ready for a URL."""
    address = settings.bind_address
    if not address or _is_unspecified(address):
        address = "127.0.0.1"
    return f"[{address}]" if ":" in address else address


def _is_unspecified(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


def _limit_ciphers(tls: ssl.SSLContext, suites: Sequence[str]) -> None:
    """TLS 1.3's suites are always on; when only they are asked for, nothing older may be agreed on."""
    older = [CIPHERS[suite] for suite in suites if CIPHERS[suite]]
    if older:
        tls.set_ciphers(":".join(older))
    elif suites:
        tls.minimum_version = ssl.TLSVersion.TLSv1_3
