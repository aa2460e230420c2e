"""Provider: KmsV2, the Transformer of the kms provider with apiVersion v2.

Reads need the plugin for unknown data keys (read_key.py). Writes need a data key that the plugin has confirmed lately
(write_key.py). Must hold: when the plugin is down, operations that need it raise Unavailable, not Corrupt.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import Unavailable
from aio_apiserver.storage.transformers import transformer
from aio_apiserver.storage.transformers.kms_v2 import envelope
from aio_apiserver.storage.transformers.kms_v2.plugin import KmsClient, PluginFailed
from aio_apiserver.storage.transformers.kms_v2.read_key import ReadKeys
from aio_apiserver.storage.transformers.kms_v2.write_key import WriteKeys
from aio_apiserver.storage.transformers.transformer import Cipher, Plain


class KmsV2:
    """The Transformer of one plugin."""

    is_identity = False

    def __init__(self, name: str, plugin: KmsClient, clock: Clock) -> None:
        self.name = name
        self._plugin = plugin
        self._read_keys = ReadKeys(name, plugin)
        self._write_keys = WriteKeys(name, plugin, clock)
        self._tasks = Tasks()

    async def start(self) -> None:
        """Check the plugin once and start polling it. A plugin that is down is no error here."""
        await self._write_keys.check()
        self._tasks.spawn(self._write_keys.poll(), name=f"kms provider {self.name}")

    async def check(self) -> str:
        """The problem of the plugin, empty when it is healthy. Results are cached for some seconds."""
        return await self._write_keys.check()

    async def from_storage(self, data: bytes, context: bytes) -> Plain:
        try:
            sealed = envelope.unseal(data)
        except ValueError as exc:
            raise transformer.corrupt(context, str(exc)) from exc
        cipher = self._read_keys.cached(sealed.data_key) or await self._fetch(sealed.data_key, context)
        return Plain(cipher.decrypt(sealed.data, context), self._is_stale(sealed.data_key))

    async def to_storage(self, data: bytes, context: bytes) -> bytes:
        key = self._write_keys.for_writing()
        self._read_keys.remember(key.data_key, key.cipher)
        return envelope.seal(envelope.Envelope(key.data_key, key.cipher.encrypt(data, context)))

    def statistics(self) -> Mapping[str, Any]:
        return {**self._write_keys.statistics(), **self._read_keys.statistics()}

    async def close(self) -> None:
        """Stop polling, let waiting reads finish, and close the connection. Safe to call twice."""
        await self._tasks.close()
        await self._read_keys.close()
        await self._plugin.close()

    async def _fetch(self, data_key: envelope.DataKey, context: bytes) -> Cipher:
        cipher = await self._read_keys.fetch(data_key)
        if not isinstance(cipher, PluginFailed):
            return cipher
        message = f"KMS provider {self.name} failed to decrypt the data key: {cipher}"
        if cipher.is_final:
            raise transformer.corrupt(context, message) from cipher
        raise Unavailable(f"data of {context.decode(errors='backslashreplace')} cannot be read: {message}") from cipher

    def _is_stale(self, data_key: envelope.DataKey) -> bool:
        """Whether the plugin's key has changed since the value was written. False without a key to write with."""
        key = self._write_keys.current
        if key is None:
            return False
        written, now = data_key, key.data_key
        return (written.encrypted.key_id, written.kind) != (now.encrypted.key_id, now.kind)
