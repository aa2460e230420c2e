"""bound_objects: looks up the objects to which service account and bootstrap tokens are bound.

Must hold: an object that was deleted and created again with the same name is another object, as its uid shows.
"""

from datetime import datetime
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import ReaderFor


class BoundObject(Struct, frozen=True):
    """An object as a token sees it: its uid, and the end of its deletion, if that has begun."""

    uid: str
    ends: float | None
    obj: Object


class BoundObjects:
    """Looks up bound objects of any kind. A token may be used right after its account was created."""

    def __init__(self, storage_for: ReaderFor) -> None:
        self._storage_for = storage_for
        self._lookups: dict[str, Lookup[BoundObject]] = {}

    async def find(self, kind: Kind, namespace: str, name: str, *, uid: str = "") -> BoundObject:
        """The cached object, or the newest one when the cache has none or one with another uid. Raises NotFound."""
        cached = await self._lookup(kind).cached(_key(kind, namespace, name))
        if cached is None or (uid and cached.uid != uid):
            return await self.newest(kind, namespace, name)
        return cached

    async def newest(self, kind: Kind, namespace: str, name: str) -> BoundObject:
        """The newest state of the object. Raises NotFound."""
        return await self._lookup(kind).newest(_key(kind, namespace, name))

    def _lookup(self, kind: Kind) -> Lookup[BoundObject]:
        if kind.plural not in self._lookups:
            self._lookups[kind.plural] = Lookup(self._storage_for(resource_of(kind)), kind.resource, _bound)
        return self._lookups[kind.plural]


def _key(kind: Kind, namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if kind.is_namespaced else name


def _bound(obj: Object) -> BoundObject:
    ends: Any = objects.get(obj, "metadata.deletionTimestamp")
    return BoundObject(obj["metadata"]["uid"], datetime.fromisoformat(ends).timestamp() if ends else None, obj)
