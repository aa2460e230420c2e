"""Scale: /scale of custom resources, whose replicas have a configurable path and may be missing.

Must hold: a Scale of an object without replicas cannot be read, and a write of it has to set them. A write makes no
object that is nested deeper than clients may write it.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.golang.decode_errors import TOO_DEEP
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.options import UpdateOptions
from aio_apiserver.registry.generic.rest import Request, Updated, UpdatedObject
from aio_apiserver.registry.generic.store.scale import ScaleREST
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.apiextensions.serving import columns
from aio_apiserver.registry.machinery.schema import field_paths
from aio_apiserver.storage.stored_object import StoredObject

_UNSET = -(2**31)
"""Stands for missing replicas in the Scale to which a patch is applied."""


class CustomScaleREST(ScaleREST):
    """The scale of the objects of one Store. `path` is the specReplicasPath of the definition."""

    columns = columns.SCALE

    def __init__(self, store: Store, path: str) -> None:
        super().__init__(store)
        self._path = path

    async def update(
        self, request: Request, name: str, updated: UpdatedObject, options: UpdateOptions, *, force_create: bool = False
    ) -> Updated:
        if self._path.count(".") > field_paths.MAX_DEPTH:
            raise errors.BadRequest(TOO_DEEP)
        return await super().update(request, name, updated, options, force_create=force_create)

    async def get(self, request: Request, name: str, *, resource_version: int | None = None) -> StoredObject:
        parent = await self._parent.get(request, name, resource_version=resource_version)
        if objects.get(parent.decode(), self._paths.spec_replicas) is None:
            raise errors.InternalError(f"the spec replicas field {quote(self._path)} does not exist")
        return self._scale_of(parent)

    def _owned_scale_of(self, stored: StoredObject, parent: Object) -> StoredObject:
        shown = parent
        if objects.get(parent, self._paths.spec_replicas) is None:
            shown = objects.clone(parent)
            objects.put(shown, self._paths.spec_replicas, _UNSET)
        return super()._owned_scale_of(stored, shown)

    def _check(self, replicas: int, scale: Object, metadata: Object) -> None:
        """Refuse a Scale without replicas. The schema validates the number itself."""
        if replicas == _UNSET:
            raise errors.BadRequest(f"the spec replicas field {quote(self._path)} cannot be empty")

    def _wanted_version(self, scale: Object, metadata: Object) -> str:
        version: str = scale["metadata"].get("resourceVersion") or metadata["resourceVersion"]
        return version
