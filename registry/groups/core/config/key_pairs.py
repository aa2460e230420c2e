"""Key pairs: checks a certificate and its private key in PEM, with the messages of Go's crypto/tls. Pure."""

from collections.abc import Sequence

from aio_apiserver.registry.base.golang import pem

_CERTIFICATE = "CERTIFICATE"
_KEY = "PRIVATE KEY"
_SKIPPED = "after skipping PEM blocks of the following types: [{}]"


def describe(certificate: bytes, key: bytes) -> str:
    """The message for a pair that does not match; empty when it matches."""
    certificates, keys = list(pem.blocks(certificate)), list(pem.blocks(key))
    chain = [block.content for block in certificates if block.type == _CERTIFICATE]
    if not chain:
        return _no_certificate([block.type for block in certificates])
    found = next((block.content for block in keys if block.type == _KEY or block.type.endswith(f" {_KEY}")), None)
    if found is None:
        return _no_key([block.type for block in keys])
    return _mismatch(chain[0], found)


def _no_certificate(skipped: Sequence[str]) -> str:
    if not skipped:
        return "tls: failed to find any PEM data in certificate input"
    if len(skipped) == 1 and skipped[0].endswith(_KEY):
        return (
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
            "PEM inputs may have been switched"
        )
    return f'tls: failed to find "CERTIFICATE" PEM block in certificate input {_SKIPPED.format(" ".join(skipped))}'


def _no_key(skipped: Sequence[str]) -> str:
    if not skipped:
        return "tls: failed to find any PEM data in key input"
    if list(skipped) == [_CERTIFICATE]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    types = _SKIPPED.format(" ".join(skipped))
    return f'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input {types}'


def _mismatch(certificate: bytes, key: bytes) -> str:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    try:
        public = x509.load_der_x509_certificate(certificate).public_key()
    except ValueError:
        return "x509: malformed certificate"
    try:
        private = serialization.load_der_private_key(key, None)
    except (ValueError, TypeError):
        return "tls: failed to parse private key"
    known = private.public_key()
    if type(public) is not type(known):
        return "tls: private key type does not match public key type"
    encoding, form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    if public.public_bytes(encoding, form) != known.public_bytes(encoding, form):
        return "tls: private key does not match public key"
    return ""
