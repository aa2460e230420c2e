"""Lookups: reads other objects from the watch cache, for admission plugins, tokens and references.

Every write reads such objects, so each is parsed once a revision. Must hold: an object missing in the cache is
read from the store, so that a client can use an object that it has just created. Only `newest` promises the present
state.
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.interpret import StorageCall, interpreted
from aio_apiserver.storage.interface import ListOptions, Reader
from aio_apiserver.storage.stored_object import Object, StoredObject

T = TypeVar("T")

_MOST_PARSED = 16_384
"""The limit of parsed objects; beyond it, all are dropped and parsed again."""
_CACHED = ListOptions(resource_version=0)
"""Any state of the cache."""


class Lookup(Generic[T]):
    """The objects of one resource, each as the result of `parse`."""

    def __init__(self, storage: Reader, resource: GroupResource, parse: Callable[[Object], T]) -> None:
        self._storage = storage
        self._resource = resource
        self._parse = parse
        self._listing = StorageCall(resource, "list")
        self._parsed: dict[str, tuple[int, T]] = {}

    async def get(self, key: str) -> T | None:
        """The object in the cache, else in the store; None when it does not exist. Raises StatusError."""
        found = await self.cached(key)
        if found is not None:
            return found
        try:
            return await self.newest(key)
        except errors.NotFound:
            return None

    async def cached(self, key: str) -> T | None:
        """The object in the cache; None when the cache has none. Raises StatusError."""
        try:
            return await self._read(key, resource_version=0)
        except errors.NotFound:
            return None

    async def newest(self, key: str) -> T:
        """The newest state of the object. Raises NotFound."""
        return await self._read(key, resource_version=None)

    async def list(self, scope: str = "") -> Sequence[T]:
        """The cached objects whose keys begin with the scope, in key order. Raises StatusError."""
        found = await interpreted(self._storage.get_list(scope, _CACHED), self._listing)
        return [self._of(one) for one in found.items]

    async def _read(self, key: str, *, resource_version: int | None) -> T:
        reading = StorageCall(self._resource, "get", key.rpartition("/")[2])
        return self._of(await interpreted(self._storage.get(key, resource_version=resource_version), reading))

    def _of(self, stored: StoredObject) -> T:
        known = self._parsed.get(stored.key)
        if known is not None and known[0] == stored.revision:
            return known[1]
        if len(self._parsed) >= _MOST_PARSED:
            self._parsed.clear()
        parsed = self._parse(stored.decode())
        self._parsed[stored.key] = (stored.revision, parsed)
        return parsed
