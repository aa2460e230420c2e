"""Service: Encryption, encryption at rest of a server: the configuration file, its reload, a Transformer a resource.

Must hold: a new configuration takes effect for all resources at once. A configuration that is invalid, or whose plugins
are unhealthy, changes nothing. The service keeps a hash of the file, not its content.
"""

import asyncio
import hashlib
import logging
from collections import Counter, defaultdict
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, Self

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.encryption import config, rules
from aio_apiserver.storage.encryption.config import EncryptionConfiguration, InvalidEncryptionConfig, ResourcePattern
from aio_apiserver.storage.encryption.provider_set import ProviderSet
from aio_apiserver.storage.health import Health
from aio_apiserver.storage.transformers.transformer import Counts, Plain, Transformer

logger = logging.getLogger(__name__)

POLL_SECONDS = 60.0
"""Seconds between two checks of the file."""


class ResourceTransformer:
    """The Transformer of one resource, which follows reloads."""

    __slots__ = ("current",)

    def __init__(self, current: Transformer) -> None:
        self.current = current

    @property
    def is_identity(self) -> bool:
        return self.current.is_identity

    def from_storage(self, data: bytes, context: bytes) -> Coroutine[Any, Any, Plain]:
        return self.current.from_storage(data, context)

    def to_storage(self, data: bytes, context: bytes) -> Coroutine[Any, Any, bytes]:
        return self.current.to_storage(data, context)


class Encryption:
    """Created by `start`. With `reloads`, the file is checked every minute and loaded when it has changed."""

    def __init__(self, path: Path, clock: Clock, *, reloads: bool) -> None:
        self._path = path
        self._clock = clock
        self._reloads = reloads
        self._counts: defaultdict[ResourcePattern, Counts] = defaultdict(Counter)
        data = _read(path)
        self._hash = _hash(data)
        self._providers = self._provider_set(data)
        self._open = [self._providers]
        self._transformers: dict[ResourcePattern, ResourceTransformer] = {}
        self._outcomes: Counter[str] = Counter()
        self._last: dict[str, float] = {}
        self._reloading = asyncio.Lock()
        self._tasks = Tasks()

    @classmethod
    async def start(cls, path: Path, *, clock: Clock, reloads: bool = False) -> Self:
        """Read the file and connect to the plugins. Raises InvalidEncryptionConfig."""
        encryption = cls(path, clock, reloads=reloads)
        try:
            await encryption._providers.start()
        except BaseException:
            await encryption.close()
            raise
        if reloads:
            encryption._tasks.spawn(encryption._poll(), name="encryption configuration reload")
        return encryption

    def transformer(self, group: str, resource: str) -> Transformer:
        """The Transformer of a resource, which follows reloads."""
        wanted = ResourcePattern(group, resource)
        found = self._transformers.get(wanted)
        if found is None:
            found = self._transformers[wanted] = ResourceTransformer(self._providers.transformer(wanted))
        return found

    @property
    def has_health_check(self) -> bool:
        """Whether the server has the health check `kms-providers`: with plugins, or with reloads."""
        return self._reloads or self._providers.uses_kms

    async def health(self) -> Health:
        """The health of the plugins, cached for a short time. Raises nothing."""
        problem = await self._providers.check()
        return Health(healthy=not problem, reason=problem)

    async def reload(self) -> bool:
        """Check the file now. True if it was reloaded; errors are logged."""
        async with self._reloading:
            try:
                changed = await self._reload()
            except InvalidEncryptionConfig as exc:
                self._record("failure")
                logger.error("The encryption configuration stays as it is, the new file cannot be used: %s", exc)
                return False
            if changed:
                self._record("success")
                logger.info("Took over a new encryption configuration, %s", self._hash)
            return changed

    def statistics(self) -> Mapping[str, Any]:
        return {
            "config_hash": self._hash,
            "reloads": dict(self._outcomes),
            "last_reload": dict(self._last),
            "transformations": {str(named): dict(counts) for named, counts in self._counts.items()},
            "kms": self._providers.statistics(),
        }

    async def close(self) -> None:
        """Stop checking the file and close the plugins. Safe to call twice."""
        await self._tasks.close()
        for providers in self._open:
            await providers.close()

    async def _poll(self) -> None:
        while True:
            await self._clock.sleep(POLL_SECONDS)
            await self.reload()

    async def _reload(self) -> bool:
        data = _read(self._path)
        if _hash(data) == self._hash:
            return False
        providers = self._provider_set(data)
        try:
            await providers.start()
            problem = await providers.check()
            if problem:
                raise InvalidEncryptionConfig(f"{self._path}: health check of the new providers failed: {problem}")
        except BaseException:
            await providers.close()
            raise
        await self._take_over(providers, _hash(data))
        return True

    async def _take_over(self, providers: ProviderSet, content_hash: str) -> None:
        retired, self._providers, self._hash = self._providers, providers, content_hash
        for wanted, transformer in self._transformers.items():
            transformer.current = providers.transformer(wanted)
        self._open.append(providers)
        await retired.close()
        self._open.remove(retired)

    def _provider_set(self, data: bytes) -> ProviderSet:
        return ProviderSet(_checked(self._path, data), self._clock, self._counts.__getitem__)

    def _record(self, outcome: str) -> None:
        self._outcomes[outcome] += 1
        self._last[outcome] = self._clock.now()


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise InvalidEncryptionConfig(f"{path} cannot be read: {exc.strerror}") from exc
    if not data:
        raise InvalidEncryptionConfig(f"{path} is empty")
    return data


def _hash(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _checked(path: Path, data: bytes) -> EncryptionConfiguration:
    try:
        configuration = config.decode(data)
    except InvalidEncryptionConfig as exc:
        raise InvalidEncryptionConfig(f"{path}: {exc}") from exc
    problems = rules.problems(configuration)
    if problems:
        raise InvalidEncryptionConfig(f"{path}: {', '.join(problems)}")
    return configuration
