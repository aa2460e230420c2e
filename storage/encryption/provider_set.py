"""Provider set: the running providers of one EncryptionConfiguration: a Transformer for every resource, and the KMS
plugins.

A provider's module is imported when the configuration names the provider, so that other servers need neither gRPC nor
PyNaCl.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.encryption.config import (
    EncryptionConfiguration,
    Kms,
    Provider,
    ResourceConfiguration,
    ResourcePattern,
)
from aio_apiserver.storage.transformers.transformer import (
    IDENTITY,
    Cipher,
    Counts,
    Encrypting,
    Prefixed,
    PrefixTransformers,
    Transformer,
)

if TYPE_CHECKING:
    from aio_apiserver.storage.transformers.kms_v2.provider import KmsV2

_ANY = ResourcePattern("*", "*")


class ProviderSet:
    """Created on the running event loop from a valid configuration. The caller keeps `counts`."""

    def __init__(
        self, configuration: EncryptionConfiguration, clock: Clock, counts: Callable[[ResourcePattern], Counts]
    ) -> None:
        self._clock = clock
        self._kms: list[KmsV2] = []
        links: dict[ResourcePattern, list[Prefixed]] = {}
        for rule in configuration.resources:
            providers = list(self._links(rule))
            for text in rule.resources:
                links.setdefault(ResourcePattern.parse(text), []).extend(providers)
        self._chains = {named: PrefixTransformers(chain, counts(named)) for named, chain in links.items()}

    @property
    def uses_kms(self) -> bool:
        return bool(self._kms)

    def transformer(self, wanted: ResourcePattern) -> Transformer:
        """The transformer of the rule for the resource, else for its group, else for all resources."""
        for named in (wanted, ResourcePattern(wanted.group, "*"), _ANY):
            chain = self._chains.get(named)
            if chain is not None:
                return IDENTITY if chain.is_identity else chain
        return IDENTITY

    async def start(self) -> None:
        """Connect to the KMS plugins."""
        await asyncio.gather(*(kms.start() for kms in self._kms))

    async def check(self) -> str:
        """The problems of the plugins with their names; empty when all are healthy."""
        answers = await asyncio.gather(*(kms.check() for kms in self._kms))
        return "; ".join(
            f"kms-provider-{position} {kms.name}: {problem}"
            for position, (kms, problem) in enumerate(zip(self._kms, answers, strict=True))
            if problem
        )

    def statistics(self) -> Mapping[str, Any]:
        return {kms.name: kms.statistics() for kms in self._kms}

    async def close(self) -> None:
        """Close the plugins after the reads that wait for them. Safe to call twice."""
        await asyncio.gather(*(kms.close() for kms in self._kms))

    def _links(self, rule: ResourceConfiguration) -> Iterator[Prefixed]:
        for provider in rule.providers:
            if provider.identity is not None:
                yield Prefixed(b"", IDENTITY)
            elif provider.kms is not None:
                yield Prefixed(f"k8s:enc:kms:v2:{provider.kms.name}:".encode(), self._plugged(provider.kms))
            else:
                yield from _keyed(provider)

    def _plugged(self, kms: Kms) -> Transformer:
        from aio_apiserver.storage.transformers.kms_v2.plugin import KmsClient
        from aio_apiserver.storage.transformers.kms_v2.provider import KmsV2

        provider = KmsV2(kms.name, KmsClient(kms.endpoint, timeout=kms.timeout), self._clock)
        self._kms.append(provider)
        return provider


def _keyed(provider: Provider) -> Iterator[Prefixed]:
    """A link for each key. The prefix of a value names the key that encrypted it."""
    for kind, cipher in _CIPHERS.items():
        keys = getattr(provider, kind)
        for key in keys.keys if keys is not None else ():
            yield Prefixed(f"k8s:enc:{kind}:v1:{key.name}:".encode(), Encrypting(cipher(key.material())))


def _aescbc(key: bytes) -> Cipher:
    from aio_apiserver.storage.transformers.aescbc import AESCBC

    return AESCBC(key)


def _aesgcm(key: bytes) -> Cipher:
    from aio_apiserver.storage.transformers.aesgcm import AESGCM

    return AESGCM(key)


def _secretbox(key: bytes) -> Cipher:
    from aio_apiserver.storage.transformers.secretbox import Secretbox

    return Secretbox(key)


_CIPHERS: Mapping[str, Callable[[bytes], Cipher]] = {"aescbc": _aescbc, "aesgcm": _aesgcm, "secretbox": _secretbox}
