"""trust_anchors: validates the PEM text of a ClusterTrustBundle: certificates of authorities, each once.

It loads the cryptography library, so that its users defer it. Pure.
"""

import re
from base64 import b64decode
from binascii import Error as NotBase64

from cryptography import x509

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError

_LARGEST = 1024 * 1024
_BLOCK = re.compile(r"-----BEGIN ([^-\n]*)-----\r?\n(.*?)-----END \1-----", re.DOTALL)
_HIDDEN = "<value omitted>"


def validate(text: str, path: str) -> list[FieldError]:
    """The errors of a PEM text."""
    if len(text.encode()) > _LARGEST:
        return [field.too_long(path, _LARGEST)]
    seen: dict[bytes, list[int]] = {}
    wrong = []
    for index, block in enumerate(_BLOCK.finditer(text)):
        if why := _check(block[1], block[2]):
            wrong.append(f"entry {index} {why}")
        else:
            seen.setdefault(_bytes_of(block[2]), []).append(index)
    if not wrong and not seen:
        wrong.append("at least one trust anchor must be provided")
    elif not wrong:
        repeated = (indices for indices in seen.values() if len(indices) > 1)
        wrong += [f"duplicate trust anchor (indices [{' '.join(map(str, one))}])" for one in repeated]
    return [field.invalid(path, _HIDDEN, why) for why in wrong]


def _check(kind: str, body: str) -> str:
    """The mistake of a block; empty when it is the certificate of an authority."""
    if kind != "CERTIFICATE":
        return f"has bad block type: {kind}"
    if ":" in body:
        return "has PEM block headers"
    try:
        certificate = x509.load_der_x509_certificate(_bytes_of(body))
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except x509.ExtensionNotFound:
        return "does not have the CA bit set"
    except (ValueError, NotBase64):
        return "does not parse as X.509"
    return "" if constraints.ca else "does not have the CA bit set"


def _bytes_of(body: str) -> bytes:
    return b64decode("".join(body.split()))
