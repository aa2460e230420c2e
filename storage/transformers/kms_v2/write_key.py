"""Write key: the data key with which a KMS v2 provider encrypts; it follows the plugin's key.

Must hold: a write uses a key that the plugin has confirmed within the last three minutes. So three minutes after a
rotation of the plugin's key, all writes use the new one. Shorter failures of the plugin do not affect writes.
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.errors import Unavailable
from aio_apiserver.storage.transformers import extended_nonce
from aio_apiserver.storage.transformers.kms_v2 import envelope
from aio_apiserver.storage.transformers.kms_v2.plugin import KmsClient, PluginFailed, Status
from aio_apiserver.storage.transformers.transformer import Cipher

logger = logging.getLogger(__name__)

POLL_SECONDS = 60.0
"""Seconds between two checks of a healthy plugin."""

RETRY_SECONDS = 10.0
"""Seconds between two checks of an unhealthy plugin; many fit into the lifetime of the key."""

_LIFETIME_SECONDS = 180.0
_GOOD_FOR_SECONDS = 20.0
_BAD_FOR_SECONDS = 3.0
"""Seconds for which a result is cached, so that frequent health checks do not load the plugin."""

_VERSIONS = ("v2", "v2beta1")


class WriteKey(Struct, frozen=True):
    """A data key that may encrypt until `expires` on the monotonic clock."""

    data_key: envelope.DataKey
    cipher: Cipher
    expires: float


class WriteKeys:
    """Keeps one WriteKey, by asking the plugin for its status."""

    def __init__(self, name: str, plugin: KmsClient, clock: Clock) -> None:
        self.current: WriteKey | None = None
        self._name = name
        self._plugin = plugin
        self._clock = clock
        self._looking = asyncio.Lock()
        self._problem = "not asked yet"
        self._stands_until = float("-inf")
        self._rotations = 0
        self._failed_checks = 0

    def for_writing(self) -> WriteKey:
        """The key for a write now. Raises Unavailable."""
        key = self.current
        if key is None:
            raise Unavailable(f"KMS provider {self._name} has no data key to encrypt with: {self._problem}")
        if self._clock.monotonic() > key.expires:
            raise Unavailable(
                f"KMS provider {self._name} may not encrypt with its data key of keyID hash "
                f"{envelope.key_id_hash(key.data_key.encrypted.key_id)} any longer, it has expired: {self._problem}"
            )
        return key

    async def check(self) -> str:
        """Check the plugin, unless the last result is fresh; rotate the key if needed. The problem, or empty."""
        async with self._looking:
            if self._clock.monotonic() >= self._stands_until:
                self._settle(await self._look())
            return self._problem

    async def poll(self) -> None:
        """Check in a loop, beginning after the first pause."""
        while True:
            await self._clock.sleep(RETRY_SECONDS if self._problem else POLL_SECONDS)
            await self.check()

    def statistics(self) -> Mapping[str, Any]:
        key_id = self.current.data_key.encrypted.key_id if self.current else ""
        return {
            "healthy": not self._problem,
            "key_id_hash": envelope.key_id_hash(key_id),
            "rotations": self._rotations,
            "failed_checks": self._failed_checks,
        }

    def _settle(self, problem: str) -> None:
        if problem and problem != self._problem:
            logger.error("KMS provider %s is not healthy: %s", self._name, problem)
        if self._problem and not problem:
            logger.info("KMS provider %s is healthy", self._name)
        self._problem = problem
        self._failed_checks += bool(problem)
        self._stands_until = self._clock.monotonic() + (_BAD_FOR_SECONDS if problem else _GOOD_FOR_SECONDS)

    async def _look(self) -> str:
        # The lifetime counts from before the call, since a slow answer says nothing about the present.
        expires = self._clock.monotonic() + _LIFETIME_SECONDS
        problems = []
        try:
            status = await self._plugin.status()
            problems += _complaints(status)
            envelope.validate_key_id(status.key_id)
            await self._renew(status.key_id, expires)
        except (PluginFailed, ValueError) as exc:
            problems.append(str(exc))
        return "; ".join(problems)

    async def _renew(self, key_id: str, expires: float) -> None:
        key = self.current
        if key is not None and key.data_key.encrypted.key_id == key_id:
            self.current = replace(key, expires=expires)
            return
        seed = os.urandom(extended_nonce.SEED)
        data_key = envelope.DataKey(envelope.SEED, await self._plugin.encrypt(seed))
        envelope.validate(data_key)
        if data_key.encrypted.key_id != key_id:
            raise ValueError(
                f"Status names keyID hash {envelope.key_id_hash(key_id)}, "
                f"Encrypt used {envelope.key_id_hash(data_key.encrypted.key_id)}"
            )
        self.current = WriteKey(data_key, envelope.cipher_of(envelope.SEED, seed), expires)
        self._rotations += 1
        logger.info("KMS provider %s has a new data key of keyID hash %s", self._name, envelope.key_id_hash(key_id))


def _complaints(status: Status) -> list[str]:
    complaints = []
    if status.healthz != "ok":
        complaints.append(f"got unexpected healthz status: {status.healthz}")
    if status.version not in _VERSIONS:
        complaints.append(f"expected KMSv2 API version v2, got {status.version}")
    return complaints
