"""Read key: decrypted data keys of a KMS v2 provider for reading, in an LRU cache.

Must hold: a cached key needs no call of the plugin. Concurrent readers of one unknown key share a call, and a reader
that gives up does not affect the others.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.transformers.kms_v2 import envelope
from aio_apiserver.storage.transformers.kms_v2.plugin import KmsClient, PluginFailed
from aio_apiserver.storage.transformers.transformer import Cipher

_REMEMBERED = 4096
"""Each start of a server and each rotation makes a data key, until old values are rewritten. With a smaller cache than
keys in use, a list would evict each key before its next use.
"""


class ReadKeys:
    """Ciphers by encrypted data key; the least recently used is dropped first."""

    def __init__(self, name: str, plugin: KmsClient) -> None:
        self._name = name
        self._plugin = plugin
        self._remembered: OrderedDict[envelope.DataKey, Cipher] = OrderedDict()
        self._fetching: dict[envelope.DataKey, asyncio.Task[Cipher | PluginFailed]] = {}
        self._tasks = Tasks()
        self._hits = 0
        self._misses = 0

    def remember(self, data_key: envelope.DataKey, cipher: Cipher) -> None:
        self._remembered[data_key] = cipher
        self._remembered.move_to_end(data_key)
        if len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)

    def cached(self, data_key: envelope.DataKey) -> Cipher | None:
        """The cipher of a cached key."""
        cipher = self._remembered.get(data_key)
        if cipher is not None:
            self._hits += 1
            self._remembered.move_to_end(data_key)
        return cipher

    async def fetch(self, data_key: envelope.DataKey) -> Cipher | PluginFailed:
        """The cipher of a key that is not cached, or the failure."""
        fetching = self._fetching.get(data_key)
        if fetching is None:
            fetching = self._tasks.spawn(self._ask(data_key), name=f"kms provider {self._name} decrypt")
            self._fetching[data_key] = fetching
        return await asyncio.shield(fetching)

    def statistics(self) -> Mapping[str, Any]:
        return {"data_keys": len(self._remembered), "hits": self._hits, "misses": self._misses}

    async def close(self) -> None:
        """Let all waiting readers finish. Safe to call twice."""
        if self._fetching:
            await asyncio.wait(self._fetching.values())
        await self._tasks.close()

    async def _ask(self, data_key: envelope.DataKey) -> Cipher | PluginFailed:
        self._misses += 1
        try:
            envelope.validate(data_key)
            cipher = envelope.cipher_of(data_key.kind, await self._plugin.decrypt(data_key.encrypted))
        except PluginFailed as failure:
            return failure
        except ValueError as exc:
            return PluginFailed(str(exc), is_final=True)
        finally:
            del self._fetching[data_key]
        self.remember(data_key, cipher)
        return cipher
