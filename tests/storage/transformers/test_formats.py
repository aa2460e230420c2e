"""Formats: the stored bytes, built here from primitives as kube-apiserver does."""

import hashlib
import hmac
import os

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.transformers.aescbc import AESCBC
from aio_apiserver.storage.transformers.aesgcm import AESGCM
from aio_apiserver.storage.transformers.extended_nonce import ExtendedNonceAESGCM
from aio_apiserver.storage.transformers.secretbox import Secretbox
from aio_apiserver.storage.transformers.transformer import Cipher as StorageCipher

CONTEXT = b"/registry/secrets/default/db"
KEY = bytes(range(32))


def encrypt_block(key: bytes, block: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - one block: the primitive itself
    return encryptor.update(block) + encryptor.finalize()


def cbc(key: bytes, iv: bytes, padded: bytes) -> bytes:
    """AES-CBC by definition: each block is combined with the previous one."""
    blocks = [iv]
    for start in range(0, len(padded), 16):
        mixed = bytes(a ^ b for a, b in zip(padded[start : start + 16], blocks[-1], strict=True))
        blocks.append(encrypt_block(key, mixed))
    return b"".join(blocks)


def gcm(key: bytes, nonce: bytes, data: bytes, authenticated: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(key), modes.GCM(nonce)).encryptor()
    encryptor.authenticate_additional_data(authenticated)
    return nonce + encryptor.update(data) + encryptor.finalize() + encryptor.tag


def expanded(seed: bytes, info: bytes) -> bytes:
    """The first block of HKDF-Expand of RFC 5869."""
    return hmac.new(seed, info + b"\x01", hashlib.sha256).digest()


@pytest.mark.parametrize("size", [16, 24, 32])
@pytest.mark.parametrize(
    ("data", "padding"), [(b"", b"\x10" * 16), (b"thirteen byte", b"\x03" * 3), (b"x" * 16, b"\x10" * 16)]
)
def test_aescbc_is_iv_and_pkcs7_padded_blocks(size: int, data: bytes, padding: bytes) -> None:
    iv = os.urandom(16)
    cipher = AESCBC(KEY[:size])

    stored = cipher.encrypt(data, CONTEXT)

    assert cipher.decrypt(cbc(KEY[:size], iv, data + padding), CONTEXT) == data
    assert stored == cbc(KEY[:size], stored[:16], data + padding)


@pytest.mark.parametrize("size", [16, 24, 32])
def test_aesgcm_is_nonce_ciphertext_and_tag_over_the_key_path(size: int) -> None:
    cipher = AESGCM(KEY[:size])

    stored = cipher.encrypt(b"value", CONTEXT)

    assert cipher.decrypt(gcm(KEY[:size], b"a nonce of12", b"value", CONTEXT), CONTEXT) == b"value"
    assert stored == gcm(KEY[:size], stored[:12], b"value", CONTEXT)


def test_secretbox_is_nonce_and_box() -> None:
    """The box is the example of golang.org/x/crypto/nacl/secretbox."""
    box = bytes.fromhex(
        "8442bc313f4626f1359e3b50122b6ce6fe66ddfe7d39d14e637eb4fd5b45beadab55198df6ab5368439792a23c87db70"
        "acb6156dc5ef957ac04f6276cf6093b84be77ff0849cc33e34b7254d5a8f65ad"
    )
    cipher = Secretbox(b"\x01" * 32)

    stored = cipher.encrypt(b"value", CONTEXT)

    assert cipher.decrypt(b"\x02" * 24 + box, CONTEXT) == b"\x03" * 64
    assert len(stored) == 24 + 16 + len(b"value")


def test_extended_nonce_is_info_and_what_aesgcm_stores_under_the_derived_key() -> None:
    info = os.urandom(32)
    cipher = ExtendedNonceAESGCM(KEY)

    stored = cipher.encrypt(b"value", CONTEXT)

    put_together = info + gcm(expanded(KEY, info), b"a nonce of12", b"value", CONTEXT)
    assert cipher.decrypt(put_together, CONTEXT) == b"value"
    assert stored == stored[:32] + gcm(expanded(KEY, stored[:32]), stored[32:44], b"value", CONTEXT)


def test_a_seed_below_32_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid seed length 31"):
        ExtendedNonceAESGCM(KEY[:31])


CIPHERS = [AESCBC(KEY), AESGCM(KEY), Secretbox(KEY), ExtendedNonceAESGCM(KEY)]
AUTHENTICATED = CIPHERS[1:]


def name_of(cipher: StorageCipher) -> str:
    return type(cipher).__name__


@pytest.mark.parametrize("cipher", CIPHERS, ids=name_of)
def test_nothing_is_encrypted_the_same_way_twice(cipher: StorageCipher) -> None:
    assert cipher.encrypt(b"value", CONTEXT) != cipher.encrypt(b"value", CONTEXT)


@pytest.mark.parametrize("cipher", CIPHERS, ids=name_of)
def test_every_truncation_below_the_least_size_is_corrupt(cipher: StorageCipher) -> None:
    stored = cipher.encrypt(b"", CONTEXT)

    for size in range(len(stored)):
        with pytest.raises(Corrupt):
            cipher.decrypt(stored[:size], CONTEXT)


@pytest.mark.parametrize("cipher", AUTHENTICATED, ids=name_of)
def test_another_key_is_corrupt_and_names_the_resource(cipher: StorageCipher) -> None:
    stored = type(cipher)(KEY[::-1]).encrypt(b"value", CONTEXT)  # type: ignore[call-arg] # all of them take a key

    with pytest.raises(Corrupt, match="authentication failed: the key of this name is not the one") as caught:
        cipher.decrypt(stored, CONTEXT)

    assert caught.value.key == CONTEXT.decode()


def test_another_key_of_aescbc_breaks_the_padding() -> None:
    cipher = AESCBC(KEY)
    iv, padded = bytes(16), b"value" + b"\x0b" * 11
    wrong = cbc(KEY, iv, padded[:-1] + b"\x00")

    with pytest.raises(Corrupt, match="invalid padding"):
        cipher.decrypt(wrong, CONTEXT)


@pytest.mark.parametrize("cipher", [AESGCM(KEY), ExtendedNonceAESGCM(KEY)], ids=name_of)
def test_a_value_that_was_moved_to_another_key_is_corrupt(cipher: StorageCipher) -> None:
    stored = cipher.encrypt(b"value", CONTEXT)

    with pytest.raises(Corrupt, match="moved here from another key"):
        cipher.decrypt(stored, b"/registry/secrets/default/other")


@pytest.mark.parametrize("cipher", [AESCBC(KEY), Secretbox(KEY)], ids=name_of)
def test_aescbc_and_secretbox_do_not_bind_a_value_to_its_key(cipher: StorageCipher) -> None:
    stored = cipher.encrypt(b"value", CONTEXT)

    assert cipher.decrypt(stored, b"/registry/secrets/default/other") == b"value"
