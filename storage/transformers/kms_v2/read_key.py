"""The data keys that a KMS v2 provider reads with: decrypted by the plugin once, then remembered.

Must hold: what is remembered never needs the plugin again; many readers of one unknown data key ask the plugin once,
and one of them giving up does not disturb the others.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from aio_apiserver.storage.tasks import Tasks
from aio_apiserver.storage.transformer import Cipher
from aio_apiserver.storage.transformers.kms_v2 import envelope
from aio_apiserver.storage.transformers.kms_v2.plugin import Plugin, PluginFailed

_REMEMBERED = 4096
"""There is one data key per start of a server and rotation of the plugin's key, until old data is rewritten. Below the
number in use, a list would evict each key just before it comes round again."""


class ReadKeys:
    """Ciphers by their encrypted data keys, the least recently used forgotten first."""

    def __init__(self, name: str, plugin: Plugin) -> None:
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

    def known(self, data_key: envelope.DataKey) -> Cipher | None:
        """The Cipher of a remembered key."""
        cipher = self._remembered.get(data_key)
        if cipher is not None:
            self._hits += 1
            self._remembered.move_to_end(data_key)
        return cipher

    async def fetch(self, data_key: envelope.DataKey) -> Cipher | PluginFailed:
        """The Cipher of a key that is not remembered, or why there is none."""
        fetching = self._fetching.get(data_key)
        if fetching is None:
            fetching = self._tasks.spawn(self._ask(data_key), name=f"kms provider {self._name} decrypt")
            self._fetching[data_key] = fetching
        return await asyncio.shield(fetching)

    def statistics(self) -> Mapping[str, Any]:
        return {"data_keys": len(self._remembered), "hits": self._hits, "misses": self._misses}

    async def close(self) -> None:
        """Let everybody who waits for the plugin have an answer. Safe to call twice."""
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
