"""Secretbox: XSalsa20 and Poly1305. Stored: 24 random bytes of nonce, then NaCl's box (16 bytes of tag, ciphertext).

The context is not used; kube-apiserver does not authenticate it either.
"""

import nacl.exceptions
import nacl.secret

from aio_apiserver.storage.transformers import transformer

_OVERHEAD = nacl.secret.SecretBox.NONCE_SIZE + nacl.secret.SecretBox.MACBYTES


class Secretbox:
    """The Cipher of one key of 32 bytes."""

    __slots__ = ("_box",)

    def __init__(self, key: bytes) -> None:
        self._box = nacl.secret.SecretBox(key)

    def encrypt(self, data: bytes, _context: bytes) -> bytes:
        return bytes(self._box.encrypt(data))

    def decrypt(self, data: bytes, context: bytes) -> bytes:
        if len(data) < _OVERHEAD:
            raise transformer.corrupt(context, "the stored data was shorter than the required size")
        try:
            return self._box.decrypt(data)
        except nacl.exceptions.CryptoError as exc:
            raise transformer.corrupt(context, f"message authentication failed: {transformer.WRONG_KEY}") from exc
