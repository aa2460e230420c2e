"""DryRunnableStorage: a Storage whose writes can stop short of writing.

A dry run walks the same road as a write (existence, preconditions, update functions, validations) against the
present state, and shows what would have been written, under the revision of what it would have replaced.

Must hold: a dry run changes nothing and takes no revision; what the real write would refuse for its content, it
refuses too, but for a resourceVersion on what is to be created, which it shows: clients try copies of what they have.
"""

from collections.abc import Awaitable

from aio_apiserver.storage import codec, preconditions, versioner
from aio_apiserver.storage.errors import KeyExists, KeyNotFound
from aio_apiserver.storage.interface import (
    ListOptions,
    ListResult,
    Preconditions,
    Storage,
    TryUpdate,
    Validate,
    Watch,
    WatchOptions,
    WatchSink,
    accept,
)
from aio_apiserver.storage.stored_object import Object, Reader, StoredObject

_READER = Reader(codec.decode, lambda _obj: {})


class DryRunnableStorage:
    """Passes everything to the storage, but for the writes of dry runs."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def stored(self, key: str, obj: Object) -> StoredObject:
        """An object as if it had been stored: under the resourceVersion that it carries, if any. Raises NotStorable."""
        codec.to_json(obj)
        return StoredObject.of(key, versioner.claimed_version(obj), obj, _READER)

    async def create(self, key: str, obj: Object, *, ttl: int = 0, dry_run: bool = False) -> StoredObject:
        if not dry_run:
            return await self._storage.create(key, obj, ttl=ttl)
        present = await self._present(key)
        if present is not None:
            raise KeyExists(key, present.revision)
        return await self._preview(key, obj)

    def get(self, key: str, *, resource_version: int | None = None) -> Awaitable[StoredObject]:
        return self._storage.get(key, resource_version=resource_version)

    def get_list(self, key: str, options: ListOptions) -> Awaitable[ListResult]:
        return self._storage.get_list(key, options)

    async def guaranteed_update(
        self,
        key: str,
        try_update: TryUpdate,
        *,
        ignore_not_found: bool = False,
        preconditions: Preconditions | None = None,
        suggestion: StoredObject | None = None,
        dry_run: bool = False,
    ) -> StoredObject:
        if dry_run:
            return await self._update_dryly(key, try_update, preconditions, ignore_not_found=ignore_not_found)
        return await self._storage.guaranteed_update(
            key, try_update, ignore_not_found=ignore_not_found, preconditions=preconditions, suggestion=suggestion
        )

    async def delete(
        self,
        key: str,
        *,
        preconditions: Preconditions | None = None,
        validate: Validate = accept,
        suggestion: StoredObject | None = None,
        dry_run: bool = False,
    ) -> StoredObject:
        if dry_run:
            return await self._delete_dryly(key, preconditions, validate)
        return await self._storage.delete(key, preconditions=preconditions, validate=validate, suggestion=suggestion)

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch:
        return await self._storage.watch(key, options, sink)

    async def count(self) -> int:
        return await self._storage.count()

    async def _update_dryly(
        self, key: str, try_update: TryUpdate, conditions: Preconditions | None, *, ignore_not_found: bool
    ) -> StoredObject:
        current = await self._present(key) if ignore_not_found else await self._storage.get(key)
        preconditions.check(conditions, key, current, is_dry=True)
        update = await try_update(current)
        versioner.clear_resource_version(update.obj)
        versioner.set_resource_version(update.obj, current.revision if current is not None else 0)
        return await self._preview(key, update.obj)

    async def _preview(self, key: str, obj: Object) -> StoredObject:
        codec.to_json(obj)
        return await self._storage.preview(key, obj)

    async def _delete_dryly(self, key: str, conditions: Preconditions | None, validate: Validate) -> StoredObject:
        current = await self._storage.get(key)
        preconditions.check(conditions, key, current, is_dry=True)
        await validate(current)
        return current

    async def _present(self, key: str) -> StoredObject | None:
        try:
            return await self._storage.get(key)
        except KeyNotFound:
            return None
