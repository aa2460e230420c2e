"""Cached: what the objects of a resource say to a plugin, each read once a revision. Every write asks for it.

Must hold: reading costs no more than a look into the cache; an object that is not in it yet is asked for where it is
kept, so that who has just made it can use it.
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.interpret import Operation, interpreted
from aio_apiserver.storage.interface import ListOptions, Storage
from aio_apiserver.storage.stored_object import Object, StoredObject

T = TypeVar("T")

_MOST_KNOWN = 16_384
"""Objects; when there are more, all are forgotten and read again."""
_AT_HAND = ListOptions(resource_version=0)
"""Any state that the cache has."""


class Cached(Generic[T]):
    """`read` makes of an object what is wanted of it."""

    def __init__(self, storage: Storage, resource: GroupResource, read: Callable[[Object], T]) -> None:
        self._storage = storage
        self._resource = resource
        self._read = read
        self._listing = Operation(resource, "list")
        self._known: dict[str, tuple[int, T]] = {}

    async def get(self, key: str) -> T | None:
        """What one object says; None when there is none. Raises StatusError."""
        reading = Operation(self._resource, "get", key.rpartition("/")[2])
        try:
            return self._parsed(await interpreted(self._storage.get(key, resource_version=0), reading))
        except errors.NotFound:
            pass
        try:
            return self._parsed(await interpreted(self._storage.get(key), reading))
        except errors.NotFound:
            return None

    async def list(self, scope: str = "") -> Sequence[T]:
        """What all objects say whose keys begin with the scope, in the order of their keys. Raises StatusError."""
        found = await interpreted(self._storage.get_list(scope, _AT_HAND), self._listing)
        return [self._parsed(one) for one in found.items]

    def _parsed(self, stored: StoredObject) -> T:
        known = self._known.get(stored.key)
        if known is not None and known[0] == stored.revision:
            return known[1]
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        parsed = self._read(stored.decode())
        self._known[stored.key] = (stored.revision, parsed)
        return parsed
