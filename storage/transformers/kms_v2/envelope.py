"""Envelope: the stored value of KMS v2 (EncryptedObject): the encrypted object and its encrypted data key.

Pure: wire format, limits, and the cipher of a decrypted key. Must hold: values that kube-apiserver would refuse to read
are not written.
"""

import hashlib
import re

from msgspec import Struct

from aio_apiserver.storage.transformers import aesgcm, extended_nonce
from aio_apiserver.storage.transformers.kms_v2 import messages
from aio_apiserver.storage.transformers.kms_v2.plugin import Encrypted
from aio_apiserver.storage.transformers.transformer import Cipher

KEY = 0
"""The data key is an AES-GCM key. Read, because older servers wrote it."""

SEED = 1
"""The data key is the seed of ExtendedNonceAESGCM. Written."""

_MAX_KEY_ID = 1024
_MAX_ENCRYPTED_KEY = 1024
_MAX_ANNOTATIONS = 32 * 1024
_DOMAIN = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+\.?")


class DataKey(Struct, frozen=True):
    """An encrypted data key; hashable, so that its decrypted form can be cached."""

    kind: int
    encrypted: Encrypted


class Envelope(Struct, frozen=True):
    """The parts of a stored value."""

    data_key: DataKey
    data: bytes


def seal(envelope: Envelope) -> bytes:
    """The stored bytes."""
    encrypted = envelope.data_key.encrypted
    return messages.encode(
        "EncryptedObject",
        encrypted_data=envelope.data,
        key_id=encrypted.key_id,
        encrypted_dek_source=encrypted.ciphertext,
        annotations=dict(encrypted.annotations),
        encrypted_dek_source_type=envelope.data_key.kind,
    )


def unseal(stored: bytes) -> Envelope:
    """Parse a stored value; the data key is not validated yet. Raises ValueError."""
    message = messages.decode("EncryptedObject", stored)
    annotations = tuple(sorted(message.annotations.items())) if message.annotations else ()
    encrypted = Encrypted(message.encrypted_dek_source, message.key_id, annotations)
    return Envelope(DataKey(message.encrypted_dek_source_type, encrypted), message.encrypted_data)


def cipher_of(kind: int, key: bytes) -> Cipher:
    """The cipher of a decrypted key. Raises ValueError for a wrong length."""
    return extended_nonce.ExtendedNonceAESGCM(key) if kind == SEED else aesgcm.AESGCM(key)


def validate(data_key: DataKey) -> None:
    """Raises ValueError for a data key that must not be stored or sent to a plugin."""
    if data_key.kind not in (KEY, SEED):
        raise ValueError(f"unknown encryptedDEKSourceType: {data_key.kind}")
    encrypted = data_key.encrypted
    _check_size("encrypted DEK source", len(encrypted.ciphertext), _MAX_ENCRYPTED_KEY)
    validate_key_id(encrypted.key_id)
    for name, _ in encrypted.annotations:
        if not _DOMAIN.fullmatch(name):
            raise ValueError(f"annotation {name!r} should be a fully qualified domain name")
    total = sum(len(name.encode()) + len(value) for name, value in encrypted.annotations)
    if total > _MAX_ANNOTATIONS:
        raise ValueError(f"total size of annotations is {total}, which exceeds the max size of {_MAX_ANNOTATIONS}")


def validate_key_id(key_id: str) -> None:
    """Raises ValueError for an empty or too long key id."""
    _check_size("keyID", len(key_id.encode()), _MAX_KEY_ID)


def key_id_hash(key_id: str) -> str:
    """The hash of a key id for logs and metrics, since a key id may name a resource in a cloud account."""
    return f"sha256:{hashlib.sha256(key_id.encode()).hexdigest()}" if key_id else ""


def _check_size(what: str, size: int, limit: int) -> None:
    if not size:
        raise ValueError(f"{what} is empty")
    if size > limit:
        raise ValueError(f"{what} is {size} bytes, which exceeds the max size of {limit}")
