"""Bundles: TLS contexts for clients that trust a CA bundle, as Go's TLS does.

Webhooks and APIServices have a `caBundle`, files and flags have PEM. Must hold: a bundle replaces the authorities of
this machine; without a bundle these count. A certificate in a bundle may be the server's own, and need not meet all
rules for CA certificates. A server cannot begin a second handshake. Contexts that are kept are bounded by bytes.
"""

import base64
import binascii
import ssl
import tempfile

from aio_apiserver.apiserver.tls.advancing_tls import AdvancingTLS
from aio_apiserver.base.kept_items import KeptByKey

_MOST_CONTEXTS = 320
_MOST_BYTES = 64 * 1024 * 1024
_CONTEXT_BYTES, _OF_BUNDLE = 50_000, 5
"""The memory of a context: some bytes, and a multiple of the bundle."""

_contexts: KeptByKey[tuple[str, str, bool], ssl.SSLContext] = KeptByKey(_MOST_BYTES, _MOST_CONTEXTS)


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


def presenting(bundle: str, certificate: str, *, is_unverified: bool = False) -> ssl.SSLContext:
    """A context that trusts a base64 bundle and shows a certificate, if there is one. Raises NoTrust, ssl.SSLError.

    Equal arguments have one context, so that connections are kept. is_unverified: it trusts any certificate.
    """
    key = bundle, certificate, is_unverified
    context = _contexts.get(key)
    if context is None:
        context = _presenting(bundle, certificate, is_unverified=is_unverified)
        _contexts.put(key, context, _CONTEXT_BYTES + _OF_BUNDLE * (len(bundle) + len(certificate)))
    return context


def _presenting(bundle: str, certificate: str, *, is_unverified: bool) -> ssl.SSLContext:
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
