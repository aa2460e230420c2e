"""Contexts: the TLS context of the secure port, from the present files, and the host names of the server.

Must hold: a client without a certificate can connect, because it may have a token. A client certificate needs a
signature of the server's own CA, --client-ca-file or --requestheader-client-ca-file. Each request checks whether the
certificate is valid now (client_certificates.py). ALPN offers HTTP/1.1. A client cannot begin a second handshake.
"""

import socket
import ssl
from collections.abc import Sequence
from ipaddress import ip_address
from operator import attrgetter
from pathlib import Path
from typing import Any

from aio_apiserver.apiserver.config.flags.tls_names import CIPHERS, TLS_VERSIONS
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.tls.advancing_tls import AdvancingTLS
from aio_apiserver.apiserver.tls.certificates import Pki

_CLUSTER_NAMES = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
_NO_CHECK_TIME = ssl.VerifyFlags(0x200000)
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME: a client with an expired certificate gets a 401."""


class ServingTLS:
    """The TLS of the secure port. Open connections keep their context."""

    def __init__(self, settings: Settings, pki: Pki) -> None:
        """Raises OSError or ValueError when a file is not valid."""
        self._settings = settings
        self.context = _context(settings, pki)
        """The context of the listener. A new handshake switches to the newest context."""
        self._newest = self.context
        self.context.sni_callback = self._choose

    def load(self, pki: Pki) -> None:
        """Load the present files. Raises OSError or ValueError, and then keeps the old context."""
        self._newest = _context(self._settings, pki)

    def _choose(self, handshake: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        handshake.context = self._newest


class _Handshake(AdvancingTLS):
    """Sends the client an alert when its certificate is refused. Event loops would close the connection without one.

    An event loop writes with the functions of the interpreter, without those that Python puts around them.
    """

    write: Any = property(attrgetter("_sslobj.write"))
    pending: Any = property(attrgetter("_sslobj.pending"))

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
    tls.options |= ssl.OP_NO_RENEGOTIATION
    tls.minimum_version = ssl.TLSVersion[TLS_VERSIONS[settings.tls_min_version]]
    tls.set_alpn_protocols(["http/1.1"])
    _limit_ciphers(tls, settings.tls_cipher_suites)
    tls.verify_mode = ssl.CERT_OPTIONAL
    tls.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_TIME
    _load(tls, *_serving_files(settings, pki))
    for bundle in (*user_bundles(settings, pki), *proxy_bundles(settings)):
        tls.load_verify_locations(cafile=bundle)
    return tls


def _load(tls: ssl.SSLContext, certificate: Path, key: Path) -> None:
    """Raises OSError with the name of the file, ValueError."""
    for file in (certificate, key):
        file.open("rb").close()  # the error of load_cert_chain names no file
    try:
        tls.load_cert_chain(certificate, key)
    except ssl.SSLError as exc:
        raise ValueError(f"{certificate} and {key} are no certificate with its key: {exc.reason or exc}") from exc


def without_verification() -> ssl.SSLContext:
    """The context of a client on this machine that sends no credentials, and so accepts any certificate."""
    tls = ssl.create_default_context()
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE
    return tls


def files(settings: Settings, pki: Pki) -> Sequence[Path]:
    """All files of the TLS of the secure port."""
    return [*_serving_files(settings, pki), *user_bundles(settings, pki), *proxy_bundles(settings)]


def _serving_files(settings: Settings, pki: Pki) -> tuple[Path, Path]:
    """The server's certificate and its key."""
    return settings.tls_cert_file or pki.server.certificate, settings.tls_private_key_file or pki.server.key


def user_bundles(settings: Settings, pki: Pki) -> Sequence[Path]:
    """The CA files of users."""
    return [pki.ca.certificate, *filter(None, [settings.client_ca_file])]


def proxy_bundles(settings: Settings) -> Sequence[Path]:
    """The CA files of front proxies."""
    return list(filter(None, [settings.requestheader_client_ca_file]))


def authority(settings: Settings, pki: Pki) -> Path:
    """The certificate with which clients verify the serving certificate."""
    return settings.tls_cert_file or pki.authority


def hosts(settings: Settings) -> list[str]:
    """All host names and addresses of the server."""
    first_service_addresses = [str(network[1]) for network in settings.service_cluster_ip_range]
    given = (settings.bind_address, settings.advertise_address, settings.external_hostname)
    names = (*_LOCAL_NAMES, *_CLUSTER_NAMES, *first_service_addresses, socket.gethostname(), *given)
    return [name for name in dict.fromkeys(names) if name and name.isascii() and not _is_unspecified(name)]


def local_address(settings: Settings) -> str:
    """The address of the server on this machine, in the form for a URL."""
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
    """Limit the cipher suites. Those of TLS 1.3 are always on; when no older one is listed, TLS 1.3 is the minimum."""
    older = [CIPHERS[suite] for suite in suites if CIPHERS[suite]]
    if older:
        tls.set_ciphers(":".join(older))
    elif suites:
        tls.minimum_version = ssl.TLSVersion.TLSv1_3
