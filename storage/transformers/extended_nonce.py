"""Extended nonce: AES-GCM with a new key for each write, derived from a seed, as KMS v2 uses it.

Stored: 32 random bytes of info, then the output of AESGCM. HKDF-SHA256 (expand step) derives the key from seed and
info. Each key is used once, so the number of writes with one seed is not limited.
"""

import os

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf import hkdf

from aio_apiserver.storage.transformers import aesgcm, transformer

SEED = 32
_INFO = 32
_KEY = 32


class ExtendedNonceAESGCM:
    """The Cipher of one seed of at least 32 random bytes."""

    __slots__ = ("_seed",)

    def __init__(self, seed: bytes) -> None:
        if len(seed) < SEED:
            raise ValueError(f"invalid seed length {len(seed)} used for key generation")
        self._seed = seed

    def encrypt(self, data: bytes, context: bytes) -> bytes:
        info = os.urandom(_INFO)
        return info + self._derived(info).encrypt(data, context)

    def decrypt(self, data: bytes, context: bytes) -> bytes:
        if len(data) < _INFO:
            raise transformer.corrupt(context, "the stored data was shorter than the required size")
        return self._derived(data[:_INFO]).decrypt(data[_INFO:], context)

    def _derived(self, info: bytes) -> aesgcm.AESGCM:
        return aesgcm.AESGCM(hkdf.HKDFExpand(hashes.SHA256(), _KEY, info).derive(self._seed))
