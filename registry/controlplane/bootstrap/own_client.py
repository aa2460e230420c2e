"""own_client: kube-apiserver's own user as a client of this server's resources, for the objects that it creates.

Reads and writes in the versions in which objects are stored. Must hold: an object that exists and is right is not
written; two servers that start at once end with one object.
"""

from collections.abc import Callable
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.controlplane.assembly import Groups
from aio_apiserver.registry.generic.access.users import APISERVER
from aio_apiserver.registry.generic.in_process_client import InProcessClient, ResourcePath, Unchanged
from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation, Made
from aio_apiserver.registry.machinery.view import typed
from aio_apiserver.storage.interface import Preconditions, Reader

FIELD_MANAGER = "kube-apiserver"


class OwnClient:
    """An in-process client that creates what is missing and mends what is there."""

    def __init__(self, groups: Groups, given: Foundation) -> None:
        self._groups = groups
        self._types = given.types
        self._storage_for = given.storage_for
        self._client = InProcessClient(self._at, APISERVER, FIELD_MANAGER)

    async def create_missing(
        self, path: ResourcePath, obj: Object, *, namespace: str = "", manager: str = FIELD_MANAGER
    ) -> None:
        """Create an object unless one of its name exists."""
        store = self._at(path)
        kind = store.object_kind(path.version)
        self._types.type_for(kind.group, kind.version, kind.kind).apply_defaults(obj)
        store.kind.strategy.default(obj)
        client = self._client.managed_by(manager)
        if await client.get(path, namespace, obj["metadata"]["name"], resource_version=0) is not None:
            return
        try:
            await client.create(path, obj, namespace=namespace)
        except errors.AlreadyExists:
            return

    async def change(
        self,
        path: ResourcePath,
        name: str,
        change: Callable[[Object], bool],
        *,
        namespace: str = "",
        manager: str = FIELD_MANAGER,
    ) -> None:
        """Let `change` mend an object in place; it returns whether anything had to be mended. Raises NotFound."""
        await self._client.managed_by(manager).change(path, namespace, name, change)

    async def apply_status(
        self, path: ResourcePath, name: str, wanted: Callable[[Object], Object | None], *, manager: str
    ) -> None:
        """Apply the status that `wanted` returns for an object without a namespace, if any. Raises NotFound."""
        store = self._at(path)
        owners = store.field_manager(path.version)
        kind = typed(store.object_kind(path.version), {"metadata": {"name": name}})

        def make(obj: Object) -> Made:
            status = wanted(obj)
            if status is None:
                raise Unchanged
            applied: Object = owners.apply(obj, {**kind, "status": status}, manager, force=True)
            return Made(applied, owners_known=True)

        await self._client.managed_by(manager).update(path, "", name, make)

    async def delete(self, path: ResourcePath, name: str, *, namespace: str = "", uid: str | None = None) -> None:
        """Delete an object if it exists, and if it has this uid."""
        try:
            await self._client.delete(path, namespace, name, DeleteOptions(preconditions=Preconditions(uid)))
        except errors.Conflict:
            return

    async def find(self, path: ResourcePath, name: str) -> Object | None:
        """The newest state of an object without a namespace; None when it does not exist."""
        found = await self._client.get(path, "", name)
        return found.decode() if found is not None else None

    async def all(self, path: ResourcePath, *, namespace: str = "") -> list[Object]:
        """The objects that exist."""
        return [item.decode() for item in (await self._client.list(path, namespace)).items]

    def storage(self, path: ResourcePath) -> Reader:
        """The storage of a resource, to watch it."""
        return self._storage_for(resource_of(self._at(path).kind))

    def _at(self, path: ResourcePath) -> Any:
        """The REST storage at a path; the caller knows what it can do."""
        return self._groups[path.group][path.version][path.path]
