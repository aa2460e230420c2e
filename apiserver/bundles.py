"""Bundles: the TLS of a client that trusts the authorities of a `caBundle`.

Webhooks and API services name their authorities so. Must hold: a bundle is trusted and nobody else; without one it is
whom this machine trusts.
"""

import base64
import binascii
import ssl


class NoTrust(Exception):
    """A bundle holds no certificates; the message says so in Go's words."""


def trusting(bundle: str) -> ssl.SSLContext:
    """A context for a bundle in base64, or for none. Raises NoTrust."""
    if not bundle:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=base64.b64decode(bundle).decode())
    except (ssl.SSLError, binascii.Error, UnicodeDecodeError) as exc:
        raise NoTrust("unable to load root certificates: unable to parse bytes as PEM block") from exc
    return context
