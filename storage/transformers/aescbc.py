"""Aescbc: AES-CBC with PKCS#7 padding. Stored: 16 random bytes of IV, then the ciphertext.

It is not authenticated. A wrong key mostly causes invalid padding, otherwise bytes that no codec reads. The context is
not used.
"""

import os

from cryptography.hazmat.primitives import ciphers, padding
from cryptography.hazmat.primitives.ciphers import algorithms, modes

from aio_apiserver.storage.transformers import transformer

_BLOCK = 16


class AESCBC:
    """The Cipher of one key of 16, 24 or 32 bytes."""

    __slots__ = ("_algorithm",)

    def __init__(self, key: bytes) -> None:
        self._algorithm = algorithms.AES(key)

    def encrypt(self, data: bytes, _context: bytes) -> bytes:
        iv = os.urandom(_BLOCK)
        padder = padding.PKCS7(_BLOCK * 8).padder()
        encryptor = ciphers.Cipher(self._algorithm, modes.CBC(iv)).encryptor()
        return iv + encryptor.update(padder.update(data) + padder.finalize()) + encryptor.finalize()

    def decrypt(self, data: bytes, context: bytes) -> bytes:
        if len(data) < 2 * _BLOCK:
            raise transformer.corrupt(context, "the stored data was shorter than the required size")
        if len(data) % _BLOCK:
            raise transformer.corrupt(context, "the stored data is not a multiple of the block size")
        decryptor = ciphers.Cipher(self._algorithm, modes.CBC(data[:_BLOCK])).decryptor()
        unpadder = padding.PKCS7(_BLOCK * 8).unpadder()
        padded = decryptor.update(data[_BLOCK:]) + decryptor.finalize()
        try:
            return unpadder.update(padded) + unpadder.finalize()
        except ValueError as exc:
            raise transformer.corrupt(context, f"invalid padding: {transformer.WRONG_KEY}") from exc
