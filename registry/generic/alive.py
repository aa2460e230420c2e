"""Alive: whether the objects that a token speaks of are still there.

They are looked for in the cache, and in the store when the cache does not have them: a token may be used right after
its account was made. Must hold: an object that was deleted and made anew under its name is another object.
"""

from datetime import datetime
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.generic import interpret
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.provider import resource_of
from aio_apiserver.registry.generic.rest import StorageFor
from aio_apiserver.storage.stored_object import Object, StoredObject

_KEPT = 4096


class Life(Struct, frozen=True):
    """What counts of an object: which one it is, and since when it is about to go."""

    uid: str
    ends: float | None
    obj: Object


class Alive:
    """Reads objects and remembers, for each, what it read last."""

    def __init__(self, storage_for: StorageFor) -> None:
        self._storage_for = storage_for
        self._lives: dict[tuple[str, str], tuple[StoredObject, Life]] = {}

    async def find(self, kind: Kind, namespace: str, name: str, *, uid: str = "") -> Life:
        """An object; with another uid than the one that is wanted only if it is the newest. Raises NotFound."""
        try:
            life = await self._read(kind, namespace, name, resource_version=0)
        except errors.NotFound:
            life = None
        if life is None or (uid and life.uid != uid):
            life = await self.newest(kind, namespace, name)
        return life

    async def newest(self, kind: Kind, namespace: str, name: str) -> Life:
        """An object as it is now. Raises NotFound."""
        return await self._read(kind, namespace, name, resource_version=None)

    async def _read(self, kind: Kind, namespace: str, name: str, *, resource_version: int | None) -> Life:
        key = f"{namespace}/{name}" if kind.is_namespaced else name
        reading = self._storage_for(resource_of(kind)).get(key, resource_version=resource_version)
        stored = await interpret.interpreted(reading, interpret.Operation(kind.resource, "get", name))
        known = self._lives.get((kind.plural, key))
        if known is not None and known[0] is stored:
            return known[1]
        life = _life_of(stored.decode())
        if len(self._lives) >= _KEPT:
            self._lives.clear()
        self._lives[kind.plural, key] = stored, life
        return life


def _life_of(obj: Object) -> Life:
    ends: Any = objects.get(obj, "metadata.deletionTimestamp")
    return Life(obj["metadata"]["uid"], datetime.fromisoformat(ends).timestamp() if ends else None, obj)
