"""Dry run: DryRunnableStorage, a Storage whose writes can be dry runs, as in kube-apiserver.

A dry run makes the checks of the write on the present state: existence, preconditions, update function, validation. It
returns the object that the write would store, under the revision of the object that it would replace.

Must hold: a dry run changes nothing and uses no revision. It refuses the content that the write refuses, with one
exception: it accepts a resourceVersion on create, because clients try copies of existing objects.
"""

from collections.abc import Awaitable
from typing import Unpack

from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage import codec, versioner
from aio_apiserver.storage.errors import KeyExists, KeyNotFound
from aio_apiserver.storage.interface import (
    DeleteCall,
    Storage,
    TryUpdate,
    UpdateCall,
    Watch,
    WatchOptions,
    WatchSink,
    accept,
)
from aio_apiserver.storage.store import preconditions
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject

_READER = ObjectReader(codec.decode, lambda _obj: {})


class DryRunnableStorage:
    """Passes all calls to the storage, except the writes of dry runs."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.get = storage.get
        self.get_list = storage.get_list

    def stored(self, key: str, obj: Object) -> StoredObject:
        """An object as if it were stored under its own resourceVersion. Raises NotStorable."""
        codec.to_json(obj)
        return StoredObject.of(key, versioner.claimed_version(obj), obj, _READER)

    def create(self, key: str, obj: Object, *, ttl: int = 0, dry_run: bool = False) -> Awaitable[StoredObject]:
        return self._create_dryly(key, obj) if dry_run else self._storage.create(key, obj, ttl=ttl)

    async def _create_dryly(self, key: str, obj: Object) -> StoredObject:
        present = await self._present(key)
        if present is not None:
            raise KeyExists(key, present.revision)
        return await self._preview(key, obj)

    def guaranteed_update(
        self, key: str, try_update: TryUpdate, *, dry_run: bool = False, **call: Unpack[UpdateCall]
    ) -> Awaitable[StoredObject]:
        if dry_run:
            return self._update_dryly(key, try_update, call)
        return self._storage.guaranteed_update(key, try_update, **call)

    def delete(self, key: str, *, dry_run: bool = False, **call: Unpack[DeleteCall]) -> Awaitable[StoredObject]:
        return self._delete_dryly(key, call) if dry_run else self._storage.delete(key, **call)

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch:
        return await self._storage.watch(key, options, sink)

    async def count(self) -> int:
        return await self._storage.count()

    async def _update_dryly(self, key: str, try_update: TryUpdate, call: UpdateCall) -> StoredObject:
        current = await (self._present(key) if call.get("ignore_not_found") else self._storage.get(key))
        preconditions.check(call.get("preconditions"), key, current, is_dry=True)
        update = await try_update(current)
        versioner.clear_resource_version(update.obj)
        versioner.set_resource_version(update.obj, current.revision if current is not None else 0)
        return await self._preview(key, update.obj)

    async def _preview(self, key: str, obj: Object) -> StoredObject:
        codec.to_json(obj)
        return await self._storage.preview(key, obj)

    async def _delete_dryly(self, key: str, call: DeleteCall) -> StoredObject:
        current = await self._storage.get(key)
        preconditions.check(call.get("preconditions"), key, current, is_dry=True)
        await call.get("validate", accept)(current)
        return current

    async def _present(self, key: str) -> StoredObject | None:
        try:
            return await self._storage.get(key)
        except KeyNotFound:
            return None
