"""lookups: Reads other objects from the watch cache, for admission plugins, tokens and references.

Every write asks for such objects, so each is parsed once a revision. Must hold: an object that the cache does not have
yet is read from the store, so that a client can use what it has just created; only `newest` promises the present state.
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.interpret import Operation, interpreted
from aio_apiserver.storage.interface import ListOptions, Reader
from aio_apiserver.storage.stored_object import Object, StoredObject

T = TypeVar("T")

_MOST_PARSED = 16_384
"""Objects; past that, all are forgotten and parsed again."""
_CACHED = ListOptions(resource_version=0)
"""Any state that the cache has."""


class Lookup(Generic[T]):
    """The objects of one resource, each as what `parse` makes of it."""

    def __init__(self, storage: Reader, resource: GroupResource, parse: Callable[[Object], T]) -> None:
        self._storage = storage
        self._resource = resource
        self._parse = parse
        self._listing = Operation(resource, "list")
        self._parsed: dict[str, tuple[int, T]] = {}

    async def get(self, key: str) -> T | None:
        """The object in the cache, or else in the store. None when neither has it. Raises StatusError."""
        found = await self.cached(key)
        if found is not None:
            return found
        try:
            return await self.newest(key)
        except errors.NotFound:
            return None

    async def cached(self, key: str) -> T | None:
        """The object in the cache alone. Raises StatusError."""
        try:
            return await self._read(key, resource_version=0)
        except errors.NotFound:
            return None

    async def newest(self, key: str) -> T:
        """The object as it is now. Raises NotFound."""
        return await self._read(key, resource_version=None)

    async def list(self, scope: str = "") -> Sequence[T]:
        """The cached objects whose keys begin with the scope, in the order of their keys. Raises StatusError."""
        found = await interpreted(self._storage.get_list(scope, _CACHED), self._listing)
        return [self._of(one) for one in found.items]

    async def _read(self, key: str, *, resource_version: int | None) -> T:
        reading = Operation(self._resource, "get", key.rpartition("/")[2])
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
