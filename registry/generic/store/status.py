"""Status: /status and similar subresources: the resource's objects, updated under another strategy.

It has reads and updates: a subresource creates and deletes nothing.
"""

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import UpdateOptions
from aio_apiserver.registry.generic.rest import Request, Updated, UpdatedObject
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.generic.strategy import Strategy
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.storage.stored_object import StoredObject


class SubresourceREST:
    """A subresource of the objects of one Store."""

    def __init__(self, store: Store, subresource: str, strategy: Strategy) -> None:
        self._store = store.for_subresource(subresource, strategy)

    @property
    def kind(self) -> Kind:
        return self._store.kind

    def object_kind(self, version: str) -> GroupVersionKind:
        return self._store.object_kind(version)

    def field_manager(self, version: str) -> FieldManager:
        return self._store.field_manager(version)

    async def get(self, request: Request, name: str, *, resource_version: int | None = None) -> StoredObject:
        return await self._store.get(request, name, resource_version=resource_version)

    async def update(
        self, request: Request, name: str, updated: UpdatedObject, options: UpdateOptions, *, force_create: bool = False
    ) -> Updated:
        return await self._store.update(request, name, updated, options)
