"""Aesgcm: AES-GCM with the etcd key as authenticated data. Stored: 12 random bytes of nonce, ciphertext, 16 bytes of
tag.

Random nonces are safe for 2^32 writes with one key; operators must rotate the key before.
"""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import aead

from aio_apiserver.storage.transformers import transformer

_NONCE = 12


class AESGCM:
    """The Cipher of one key of 16, 24 or 32 bytes."""

    __slots__ = ("_aead",)

    def __init__(self, key: bytes) -> None:
        self._aead = aead.AESGCM(key)

    def encrypt(self, data: bytes, context: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._aead.encrypt(nonce, data, context)

    def decrypt(self, data: bytes, context: bytes) -> bytes:
        if len(data) < _NONCE:
            raise transformer.corrupt(context, "the stored data was shorter than the required size")
        try:
            return self._aead.decrypt(data[:_NONCE], data[_NONCE:], context)
        except InvalidTag as exc:
            raise transformer.corrupt(context, f"message authentication failed: {transformer.WRONG_KEY}") from exc
