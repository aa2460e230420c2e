"""Transformer: encryption at rest between codec and kv engine, upstream's value.Transformer.

It knows prefixes and their order, no cryptography and no file. A stored value has the prefix of its provider and key,
in kube-apiserver's format.

Must hold: the first provider encrypts and all decrypt. A value that no provider can read raises Corrupt. A value of
another provider is not taken for plain data.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from aio_apiserver.storage.errors import Corrupt, StorageError

ENCRYPTED_PREFIX = b"k8s:enc:"
"""The beginning of every encrypted value."""

WRONG_KEY = "the key of this name is not the one that wrote it, or it was changed or moved here from another key"
"""The meaning of a failed decryption, for operators."""

_WRITER = re.compile(rb"k8s:enc:[a-z0-9]{1,32}:v[0-9]{1,4}:[^:]{1,253}(?=:)")


class Plain(Struct, frozen=True):
    """A value as the codec wrote it. `is_stale`: it was written by another provider or key than the present one."""

    data: bytes
    is_stale: bool


class Transformer(Protocol):
    """Converts values to their stored form and back. `context`: the whole kv key of the value.

    Some providers authenticate the context, so that a value copied to another key does not read back.
    """

    @property
    def is_identity(self) -> bool:
        """Whether values are stored as they are at present. A reload may change it, so ask each time.

        If true, callers may skip `to_storage`, and `from_storage` for values without ENCRYPTED_PREFIX.
        """
        ...

    async def from_storage(self, data: bytes, context: bytes) -> Plain:
        """Decrypt a value. It suspends when a key must be fetched. Raises Corrupt and Unavailable."""
        ...

    async def to_storage(self, data: bytes, context: bytes) -> bytes:
        """Encrypt a value. Raises Unavailable when there is no key to write with."""
        ...


TransformerFor = Callable[[str, str], Transformer]
"""From group ("" for core) and resource to the Transformer."""


class Cipher(Protocol):
    """Encryption with a key at hand; it does not wait."""

    def encrypt(self, data: bytes, context: bytes) -> bytes: ...

    def decrypt(self, data: bytes, context: bytes) -> bytes:
        """Raises Corrupt for a wrong key, changed data or another context."""
        ...


class Identity:
    """Stores values as they are, and refuses to read encrypted ones."""

    __slots__ = ()
    is_identity = True

    async def from_storage(self, data: bytes, context: bytes) -> Plain:
        if data.startswith(ENCRYPTED_PREFIX):
            raise corrupt(
                context,
                f"identity transformer tried to read encrypted data, written with {_writer(data)}: "
                "list that provider and key in the encryption configuration of this resource",
            )
        return Plain(data, is_stale=False)

    async def to_storage(self, data: bytes, context: bytes) -> bytes:
        return data


IDENTITY = Identity()


def identity_for(_group: str, _resource: str) -> Transformer:
    """The TransformerFor of a server without encryption."""
    return IDENTITY


class Encrypting:
    """The Transformer of one key."""

    __slots__ = ("_cipher",)
    is_identity = False

    def __init__(self, cipher: Cipher) -> None:
        self._cipher = cipher

    async def from_storage(self, data: bytes, context: bytes) -> Plain:
        return Plain(self._cipher.decrypt(data, context), is_stale=False)

    async def to_storage(self, data: bytes, context: bytes) -> bytes:
        return self._cipher.encrypt(data, context)


Counts = Counter[tuple[str, str]]
"""Counts by operation (from_storage, to_storage, from_storage_failed, to_storage_failed) and prefix."""


class Prefixed(Struct, frozen=True):
    """A Transformer with the prefix of its values; the identity has no prefix."""

    prefix: bytes
    transformer: Transformer

    @property
    def name(self) -> str:
        return self.prefix.decode(errors="backslashreplace") or "identity"

    def wrote(self, data: bytes) -> bool:
        return data.startswith(self.prefix) if self.prefix else not data.startswith(ENCRYPTED_PREFIX)


class PrefixTransformers:
    """Providers and their keys in the order of the configuration. The first encrypts, all decrypt.

    A prefix may occur twice (a provider listed again with another secret under the same name). So a failed decryption
    is final only when no other link has the prefix.
    """

    __slots__ = ("_counts", "_links", "is_identity")

    def __init__(self, links: Sequence[Prefixed], counts: Counts) -> None:
        self._links = tuple(links)
        self._counts = counts
        self.is_identity = all(link.transformer.is_identity for link in self._links)

    async def from_storage(self, data: bytes, context: bytes) -> Plain:
        failures = []
        for position, link in enumerate(self._links):
            if not link.wrote(data):
                continue
            try:
                plain = await link.transformer.from_storage(data[len(link.prefix) :], context)
            except StorageError as exc:
                self._counts["from_storage_failed", link.name] += 1
                if not isinstance(exc, Corrupt):
                    raise
                failures.append(f"{link.name} {exc.message}")
                continue
            self._counts["from_storage", link.name] += 1
            return Plain(plain.data, is_stale=True) if position and not plain.is_stale else plain
        if not failures:
            self._counts["from_storage_failed", "unknown"] += 1
        raise corrupt(context, "; ".join(failures) or _unmatched(data))

    async def to_storage(self, data: bytes, context: bytes) -> bytes:
        writer = self._links[0]
        try:
            stored = await writer.transformer.to_storage(data, context)
        except StorageError:
            self._counts["to_storage_failed", writer.name] += 1
            raise
        self._counts["to_storage", writer.name] += 1
        return writer.prefix + stored


def corrupt(context: bytes, message: str) -> Corrupt:
    """The error for an unreadable value, with its key."""
    return Corrupt(context.decode(errors="backslashreplace"), message)


def _unmatched(data: bytes) -> str:
    if data.startswith(ENCRYPTED_PREFIX):
        return (
            f"no matching prefix found, it was written with {_writer(data)}: "
            "list that provider and key in the encryption configuration of this resource"
        )
    return "no matching prefix found, it is not encrypted: list the identity provider behind the others to read it"


def _writer(data: bytes) -> str:
    """The prefix of an encrypted value for messages: k8s:enc:aescbc:v1:key1."""
    match = _WRITER.match(data)
    return match[0].decode(errors="backslashreplace") if match else "an unknown provider"
