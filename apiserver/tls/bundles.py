"""Bundles: the TLS of a client that trusts certain authorities, as Go's TLS does.

Webhooks and API services name theirs in a `caBundle`, files and flags in PEM. Must hold: a bundle is trusted and nobody
else; without one it is whom this machine trusts; a certificate in a bundle may be that of the server itself, and need
not have all that standards ask of authorities.
"""

import base64
import binascii
import ssl


class NoTrust(Exception):
    """A bundle holds no certificates; the message says so in Go's words."""


def trusting(authorities: str) -> ssl.SSLContext:
    """A context for certificates in PEM, or for none. Raises OSError."""
    context = ssl.create_default_context(cadata=authorities or None)
    context.verify_flags = context.verify_flags & ~ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def trusting_bundle(bundle: str) -> ssl.SSLContext:
    """A context for a bundle in base64, or for none. Raises NoTrust."""
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
