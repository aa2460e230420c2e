"""The way to a webhook as a definition has it: what may be trusted there. Pure."""

import base64
import binascii
from typing import Any

from cryptography import x509

from storage.stored_object import Object


def has_sound_authorities(crd: Object) -> bool:
    """Whether the CA bundle of a definition's conversion webhook, if it has one, can be read."""
    webhook = (crd["spec"].get("conversion") or {}).get("webhook") or {}
    return are_authorities((webhook.get("clientConfig") or {}).get("caBundle"))


def are_authorities(bundle: Any) -> bool:
    """Whether a bundle in base64 holds certificates; one that is not there does no harm."""
    if not bundle:
        return True
    try:
        return bool(x509.load_pem_x509_certificates(base64.b64decode(bundle)))
    except (ValueError, binascii.Error):
        return False
