"""Shared secrets: SharedSecrets, the values in etcd that all servers with the same etcd have in common.

A value lies under a key of its own beside the objects. Its transformer is the one that the EncryptionConfiguration has
for Kubernetes secrets. It knows no meaning of a value.

Must hold: a write is a compare-and-set, so servers that start together agree on one value. The key can be no object's:
an underscore stands in no API group, so that no CustomResourceDefinition can show the values. A value that was
encrypted with an older key is written again, so that the operator can drop that key.
"""

from collections.abc import Awaitable, Callable

from aio_apiserver.storage.factory.key_prefixes import key_prefix
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.transformers.transformer import Transformer

_PLACE = "_aio-apiserver.io/shared"

Change = Callable[[bytes | None], Awaitable[bytes]]
"""From the present value (None: there is none) to the wanted one. It may run several times."""


class SharedSecrets:
    """The shared values of one etcd and one --etcd-prefix."""

    def __init__(self, kv: KV, prefix: str, transformer: Transformer) -> None:
        self._kv = kv
        self._prefix = key_prefix(prefix, _PLACE)
        self._transformer = transformer

    async def get_or_create(self, name: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """The value of a name; the first server makes it. Raises StorageError."""

        async def keep(present: bytes | None) -> bytes:
            return await make() if present is None else present

        return await self.update(name, keep)

    async def update(self, name: str, change: Change) -> bytes:
        """Change a value, again when another server was faster. Returns the value. Raises StorageError."""
        key = f"{self._prefix}{name}".encode()
        while True:
            record = (await self._kv.get(key)).record
            present, is_stale = await self._read(record)
            wanted = await change(present)
            if wanted == present and not is_stale:
                return wanted
            stored = await self._transformer.to_storage(wanted, key)
            expected = record.mod_revision if record is not None else 0
            if (await self._kv.put(key, stored, expected_mod_revision=expected)).succeeded:
                return wanted

    async def _read(self, record: Record | None) -> tuple[bytes | None, bool]:
        """The value, and whether it was written with an older key."""
        if record is None:
            return None, False
        plain = await self._transformer.from_storage(record.value, record.key)
        return plain.data, plain.is_stale
