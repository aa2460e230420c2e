"""The kms provider, apiVersion v2: a Transformer whose data keys a plugin has encrypted.

Reads need the plugin only for data keys that have not been seen yet (read_key.py), writes only for a key that was
confirmed lately (write_key.py). Must hold: a plugin that is down makes Unavailable of what needs it, never Corrupt.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.storage import transformer
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.errors import Unavailable
from aio_apiserver.storage.tasks import Tasks
from aio_apiserver.storage.transformer import Cipher, Plain
from aio_apiserver.storage.transformers.kms_v2 import envelope
from aio_apiserver.storage.transformers.kms_v2.plugin import Plugin, PluginFailed
from aio_apiserver.storage.transformers.kms_v2.read_key import ReadKeys
from aio_apiserver.storage.transformers.kms_v2.write_key import WriteKeys


class KmsV2:
    """The Transformer of one plugin."""

    is_identity = False

    def __init__(self, name: str, plugin: Plugin, clock: Clock) -> None:
        self.name = name
        self._plugin = plugin
        self._read_keys = ReadKeys(name, plugin)
        self._write_keys = WriteKeys(name, plugin, clock)
        self._tasks = Tasks()

    async def start(self) -> None:
        """Look at the plugin once and keep looking. One that is down may come later: that is no error here."""
        await self._write_keys.check()
        self._tasks.spawn(self._write_keys.poll(), name=f"kms provider {self.name}")

    async def check(self) -> str:
        """What is wrong with the plugin, empty when it is well; an answer of the last seconds is given again."""
        return await self._write_keys.check()

    async def from_storage(self, data: bytes, context: bytes) -> Plain:
        try:
            sealed = envelope.unseal(data)
        except ValueError as exc:
            raise transformer.corrupt(context, str(exc)) from exc
        cipher = self._read_keys.known(sealed.data_key) or await self._fetch(sealed.data_key, context)
        return Plain(cipher.decrypt(sealed.data, context), self._is_stale(sealed.data_key))

    async def to_storage(self, data: bytes, context: bytes) -> bytes:
        key = self._write_keys.for_writing()
        self._read_keys.remember(key.data_key, key.cipher)
        return envelope.seal(envelope.Envelope(key.data_key, key.cipher.encrypt(data, context)))

    def statistics(self) -> Mapping[str, Any]:
        return {**self._write_keys.statistics(), **self._read_keys.statistics()}

    async def close(self) -> None:
        """Stop looking, let reads that wait for the plugin finish, and hang up. Safe to call twice."""
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
        """Whether the plugin's key has changed since; without a key to write with, nothing could be rewritten."""
        key = self._write_keys.current
        if key is None:
            return False
        written, now = data_key, key.data_key
        return (written.encrypted.key_id, written.kind) != (now.encrypted.key_id, now.kind)
