"""Bundles: TLS contexts for clients that trust a CA bundle, as Go's TLS does.

Webhooks and APIServices have a `caBundle`, files and flags have PEM. Must hold: a bundle replaces the authorities of
this machine; without a bundle these count. A certificate in a bundle may be the server's own, and need not meet all
rules for CA certificates.
"""

import base64
import binascii
import ssl


class NoTrust(Exception):
    """A bundle without certificates. The message is Go's."""


def trusting(authorities: str) -> ssl.SSLContext:
    """A context that trusts certificates in PEM, or the machine's authorities for an empty text. Raises OSError."""
    context = ssl.create_default_context(cadata=authorities or None)
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
    return context
