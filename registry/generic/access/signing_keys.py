"""signing_keys: the keys that sign and verify service account tokens, and the public keys as a JSON Web Key Set.

A missing key is made when it is first needed, in a thread, because that takes long. Must hold: private keys stay in
this module; signatures and public keys leave it. A key's id follows from the key, so that all servers with one key
agree on it.
"""

import asyncio
import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from msgspec import Struct

PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

_RSA_BITS = 2048
_RSA_EXPONENT = 65537
_CURVES = {"secp256r1": ("ES256", "P-256"), "secp384r1": ("ES384", "P-384"), "secp521r1": ("ES512", "P-521")}
_PEM = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.+?-----END \1-----", re.DOTALL)


class VerifyingKey(Struct, frozen=True, dict=True):
    """A public key with its id and algorithm."""

    key: PublicKey

    @cached_property
    def id(self) -> str:
        encoded = self.key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        return base64.urlsafe_b64encode(hashlib.sha256(encoded).digest()).rstrip(b"=").decode()

    @property
    def algorithm(self) -> str:
        """The JWT algorithm. Raises ValueError for a curve that tokens are not signed with."""
        if isinstance(self.key, rsa.RSAPublicKey):
            return "RS256"
        if self.key.curve.name not in _CURVES:
            raise ValueError("unknown private key curve, must be 256, 384, or 521")
        return _CURVES[self.key.curve.name][0]

    def as_jwk(self) -> Mapping[str, str]:
        """The key as a JSON web key, its members in kube-apiserver's order."""
        numbers = self.key.public_numbers()
        if isinstance(numbers, rsa.RSAPublicNumbers):
            about = {"use": "sig", "kty": "RSA", "kid": self.id, "alg": self.algorithm}
            return {**about, "n": _number(numbers.n), "e": _number(numbers.e)}
        assert isinstance(self.key, ec.EllipticCurvePublicKey)
        size = (self.key.key_size + 7) // 8
        curve = _CURVES[self.key.curve.name][1]
        about = {"use": "sig", "kty": "EC", "kid": self.id, "crv": curve, "alg": self.algorithm}
        return {**about, "x": _number(numbers.x, size), "y": _number(numbers.y, size)}


def _number(value: int, size: int = 0) -> str:
    data = value.to_bytes(size or (value.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Keys(Struct, frozen=True, dict=True):
    """The key that signs (None: nothing can be signed), and all keys that verify."""

    signing: PrivateKey | None
    verifying: Sequence[VerifyingKey]

    @cached_property
    def by_id(self) -> Mapping[str, VerifyingKey]:
        return {key.id: key for key in self.verifying}

    def sign(self, claims: Mapping[str, Any]) -> str:
        """A signed token. Raises ValueError without a signing key."""
        import jwt

        if self.signing is None:
            raise ValueError("there is no key to sign service account tokens with")
        key = VerifyingKey(self.signing.public_key())
        return jwt.encode(dict(claims), self.signing, algorithm=key.algorithm, headers={"kid": key.id, "typ": None})


class SigningKeys:
    """Keys that are loaded at their first use."""

    def __init__(self, load: Callable[[], Keys]) -> None:
        self._load = load
        self._loading = asyncio.Lock()
        self._keys: Keys | None = None
        self.loads = 1
        """Grows with each `reload`."""

    async def get(self) -> Keys:
        """The keys. Raises OSError or ValueError when they cannot be read or made."""
        if self._keys is None:
            async with self._loading:
                if self._keys is None:
                    return await self._load_newest()
        return self._keys

    def reload(self) -> None:
        """Load the keys again at the next use: the files have others now."""
        self._keys = None
        self.loads += 1

    async def _load_newest(self) -> Keys:
        """Load the keys, and remember them unless a reload came in between."""
        loads = self.loads
        keys = await asyncio.to_thread(self._load)
        if loads == self.loads:
            self._keys = keys
        return keys


def make() -> Keys:
    """A new key, which signs and verifies."""
    return of(new_key())


def new_key() -> PrivateKey:
    return rsa.generate_private_key(public_exponent=_RSA_EXPONENT, key_size=_RSA_BITS)


def of(signing: PrivateKey, verifying: Sequence[PublicKey] = ()) -> Keys:
    """Keys with one that signs. It also verifies, unless other keys are given."""
    return Keys(signing, [VerifyingKey(key) for key in verifying or (signing.public_key(),)])


def parse_private(data: bytes) -> PrivateKey:
    """A private key in PEM. Raises ValueError."""
    key = serialization.load_pem_private_key(data, password=None)
    if not isinstance(key, PrivateKey):
        raise ValueError("must be an RSA or ECDSA private key")
    return key


def parse_public(data: bytes) -> list[PublicKey]:
    """All keys in PEM: public keys, or those of private keys and certificates. Raises ValueError."""
    found = [_public(block.group(0), block.group(1)) for block in _PEM.finditer(data)]
    keys = [key for key in found if isinstance(key, PublicKey)]
    if not keys:
        raise ValueError("data does not contain any valid RSA or ECDSA public keys")
    return keys


def _public(block: bytes, title: bytes) -> object:
    if title == b"CERTIFICATE":
        return x509.load_pem_x509_certificate(block).public_key()
    if title == b"RSA PUBLIC KEY" or title == b"PUBLIC KEY":
        return serialization.load_pem_public_key(block)
    if title.endswith(b"PRIVATE KEY"):
        return parse_private(block).public_key()
    return None
