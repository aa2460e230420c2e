"""TLS: the SSL context of the secure port, and the names under which the server can be reached.

Must hold: a client without a certificate gets in (it may have a token); one with a certificate only if it was signed
by the server's own CA or one of --client-ca-file. HTTP/1.1 is all that is offered.
"""

import socket
import ssl
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

from apiserver.certificates import Pki
from apiserver.settings import Settings
from apiserver.tls_names import CIPHERS, TLS_VERSIONS

_CLUSTER_NAMES = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
_LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")


def context(settings: Settings, pki: Pki) -> ssl.SSLContext:
    """What the secure port speaks. Raises OSError or ValueError when a file is not what it should be."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = TLS_VERSIONS[settings.tls_min_version]
    tls.set_alpn_protocols(["http/1.1"])
    _limit_ciphers(tls, settings.tls_cipher_suites)
    tls.verify_mode = ssl.CERT_OPTIONAL
    load_files(tls, settings, pki)
    return tls


def load_files(tls: ssl.SSLContext, settings: Settings, pki: Pki) -> None:
    """Give a context its certificate, its key and the CAs of clients: all of them, or none when one is not right."""
    for each in (ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), tls):
        each.load_cert_chain(
            settings.tls_cert_file or pki.server.certificate, settings.tls_private_key_file or pki.server.key
        )
        each.load_verify_locations(cafile=pki.ca.certificate)
        for bundle in filter(None, (settings.client_ca_file, settings.requestheader_client_ca_file)):
            each.load_verify_locations(cafile=bundle)


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
