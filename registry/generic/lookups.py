"""Lookups: reads other objects than the one of the request, for admission plugins, tokens, references and proxies.

Every write reads such objects, so each is parsed once a revision. Must hold: `get` reads an object that the cache lacks
from the store, so that a client can use an object that it has just created. `newest` and `all_newest` promise the
present state. Reads of many or large objects (`all_newest`, `scan`) keep nothing. An object that takes long to parse
is parsed in the worker thread, once for all requests that wait for it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Generic, TypeVar

from aio_apiserver.base import worker_thread
from aio_apiserver.base.kept_items import KeptByKey
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.worker_thread import LONG
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.interpret import StorageCall, interpreted
from aio_apiserver.storage.interface import ListOptions, Reader
from aio_apiserver.storage.stored_object import StoredObject

T = TypeVar("T")
Labels = Mapping[str, str]

_MOST_PARSED = 16_384
_MOST_BYTES = 128 * 1024 * 1024
"""The limits of the parsed objects of one resource."""
_BYTES, _OF_JSON = 500, 5
"""The memory of a parsed object, at most: some bytes, and a multiple of its JSON."""
_CACHED = ListOptions(resource_version=0)
"""Any state of the cache."""
_NEWEST = ListOptions()


def as_stored(obj: Object) -> Object:
    """The `parse` of lookups that need whole objects. The objects must not be changed."""
    return obj


class Lookup(Generic[T]):
    """The objects of one resource, each as the result of `parse`. long_from: the size in bytes from which on that takes
    long.
    """

    def __init__(
        self, storage: Reader, resource: GroupResource, parse: Callable[[Object], T], *, long_from: int = LONG
    ) -> None:
        self._storage = storage
        self._resource = resource
        self._parse = parse
        self._listing = StorageCall(resource, "list")
        self._parsed: KeptByKey[str, tuple[int, T]] = KeptByKey(_MOST_BYTES, _MOST_PARSED)
        """By key: the revision of an object, and what was read in it."""
        self._long_from = long_from
        self._parsing = asyncio.Lock()

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
        known = self._storage.at_hand(key)
        if known is not None:
            return await self._parsed_of(known[0]) if known else None
        try:
            return await self._read(key, resource_version=0)
        except errors.NotFound:
            return None

    async def newest(self, key: str, *, reported: GroupResource | None = None) -> T:
        """The newest state of the object. Raises NotFound, for the `reported` resource when it is another one."""
        return await self._read(key, resource_version=None, reported=reported)

    async def list(self, scope: str = "", *, is_selected: Callable[[Labels], bool] | None = None) -> Sequence[T]:
        """The cached objects whose keys begin with the scope, in key order, selected by labels. Raises StatusError."""
        found = self._storage.at_hand(scope)
        if found is None:
            found = await self._stored(scope, _CACHED)
        if not found:
            return []
        selected = [one for one in found if is_selected is None or is_selected(one.labels)]
        for one in selected:
            if one.size >= self._long_from:
                await self._parsed_of(one)
        return [self._of(one) for one in selected]

    async def all_newest(self, scope: str = "") -> Sequence[T]:
        """The newest state of the objects whose keys begin with the scope, in key order. Raises StatusError."""
        return [self._parse(one.decode()) for one in await self._stored(scope, _NEWEST)]

    async def scan(self, scope: str = "") -> AsyncIterator[T]:
        """The cached objects, each parsed when it is reached, with pauses for other tasks. Raises StatusError."""
        async for one in in_turns(await self._stored(scope, _CACHED)):
            yield self._parse(one.decode())

    async def _stored(self, scope: str, options: ListOptions) -> Sequence[StoredObject]:
        return (await interpreted(self._storage.get_list(scope, options), self._listing)).items

    async def _read(self, key: str, *, resource_version: int | None, reported: GroupResource | None = None) -> T:
        reading = StorageCall(reported or self._resource, "get", key.rpartition("/")[2])
        stored = await interpreted(self._storage.get(key, resource_version=resource_version), reading)
        return await self._parsed_of(stored)

    async def _parsed_of(self, stored: StoredObject) -> T:
        if stored.size >= self._long_from:
            async with self._parsing:
                known = self._parsed.get(stored.key)
                if known is None or known[0] != stored.revision:
                    parsed = await worker_thread.run(lambda: self._parse(stored.decode()), worker_thread.STORE)
                    self._keep(stored, parsed)
        return self._of(stored)

    def _of(self, stored: StoredObject) -> T:
        known = self._parsed.get(stored.key)
        if known is not None and known[0] == stored.revision:
            return known[1]
        parsed = self._parse(stored.decode())
        self._keep(stored, parsed)
        return parsed

    def _keep(self, stored: StoredObject, parsed: T) -> None:
        self._parsed.put(stored.key, (stored.revision, parsed), _BYTES + _OF_JSON * stored.size)
