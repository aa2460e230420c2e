"""/status and its like: the same objects as the resource, changed under another strategy.

Only reading and updating pass: a subresource makes and deletes nothing.
"""

from registry.generic.store import Store
from registry.kind import Kind
from registry.names import GroupVersionKind
from registry.options import UpdateOptions
from registry.patch.apply.manager import FieldManager
from registry.rest import Request, Updated, UpdatedObject
from registry.strategy import Strategy
from storage.stored_object import StoredObject


class SubresourceREST:
    """A part of the objects of one Store."""

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
