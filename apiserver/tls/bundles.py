"""Bundles: TLS contexts for clients that trust a CA bundle, as Go's TLS does.

Webhooks and APIServices have a `caBundle`, files and flags have PEM. Must hold: a bundle replaces the authorities of
this machine; without a bundle these count. A certificate in a bundle may be the server's own, and need not meet all
rules for CA certificates. A server cannot begin a second handshake.
"""

import base64
import binascii
import ssl
import tempfile
from functools import lru_cache

from aio_apiserver.apiserver.tls.advancing_tls import AdvancingTLS

_MOST_CONTEXTS = 320


class NoTrust(Exception):
    """A bundle without certificates. The message is Go's."""


def trusting(authorities: str) -> ssl.SSLContext:
    """A context that trusts certificates in PEM, or the machine's authorities for an empty text. Raises OSError."""
    context = ssl.create_default_context(cadata=authorities or None)
    _limit(context)
    context.verify_flags = context.verify_flags & ~ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def trusting_bundle(bundle: str) -> ssl.SSLContext:
    """A context that trusts a base64 bundle, or the machine's authorities for an empty text. Raises NoTrust."""
    try:
        authorities = base64.b64decode(bundle).decode()
        if bundle and not authorities.strip():
            raise ValueError("nothing is in it")
        return trusting(authorities)
    except (ssl.SSLError, binascii.Error, ValueError) as exc:
        raise NoTrust("unable to load root certificates: unable to parse bytes as PEM block") from exc


def unverified() -> ssl.SSLContext:
    """A context for any certificate: of kubelets without an authority, of pods, services and components."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    _limit(context)
    return context


def _limit(context: ssl.SSLContext) -> None:
    """End connections of servers that send messages of TLS without end, or want a second handshake."""
    context.sslobject_class = AdvancingTLS
    context.options |= ssl.OP_NO_RENEGOTIATION


@lru_cache(maxsize=_MOST_CONTEXTS)
def presenting(bundle: str, certificate: str, *, is_unverified: bool = False) -> ssl.SSLContext:
    """A context that trusts a base64 bundle and shows a certificate, if there is one. Raises NoTrust, ssl.SSLError.

    Equal arguments have one context, so that connections are kept. is_unverified: it trusts any certificate.
    """
    context = unverified() if is_unverified else trusting_bundle(bundle)
    if certificate:
        show(certificate, context)
    return context


def show(certificate: str, context: ssl.SSLContext) -> None:
    """Add a client certificate to a context. `certificate` is followed by its key. Raises ssl.SSLError."""
    with tempfile.NamedTemporaryFile() as pair:  # the ssl module reads certificates from files alone
        pair.write(certificate.encode())
        pair.flush()
        context.load_cert_chain(pair.name)
