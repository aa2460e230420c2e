"""in_process_client: the server's requests to its own resources without HTTP, for bootstrap objects and controllers.

A write runs the whole registry: defaults, admission, validation, field managers, storage. Knows no API group. Must
hold: an object that is already right is not written.
"""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions
from aio_apiserver.registry.generic.rest import Deleted, Made, Request, UpdatedObject
from aio_apiserver.storage.interface import ListOptions, ListResult
from aio_apiserver.storage.stored_object import StoredObject


class ResourcePath(NamedTuple):
    """A resource in a version, `deployments`, or a subresource of it, `deployments/status`."""

    group: str
    version: str
    path: str

    @property
    def resource(self) -> "ResourcePath":
        """The path of the whole objects."""
        return ResourcePath(self.group, self.version, self.path.partition("/")[0])

    def part(self, subresource: str) -> "ResourcePath":
        return ResourcePath(self.group, self.version, f"{self.path}/{subresource}")


class Unchanged(Exception):
    """Raised by a change when the object is right already: nothing is written."""


class Replaced(Exception):
    """Another object has the name now: the uid differs."""


def ignore_warning(_text: str) -> None:
    """Ignore a warning: they are for people."""


class InProcessClient(Struct, frozen=True):
    """Requests of one user under one field manager. storage_at: finds the REST storage at a path."""

    storage_at: Callable[[ResourcePath], Any]
    user: UserInfo
    manager: str

    def managed_by(self, manager: str) -> "InProcessClient":
        """The same client under another field manager."""
        return replace(self, manager=manager)

    def request(self, path: ResourcePath, namespace: str, verb: str = "") -> Request:
        """A request. `verb`: for resources that authorize parts of an object."""
        return Request(
            user=self.user,
            version=path.version,
            warn=ignore_warning,
            namespace=namespace,
            manager=self.manager,
            verb=verb,
        )

    async def get(
        self, path: ResourcePath, namespace: str, name: str, *, resource_version: int | None = None
    ) -> StoredObject | None:
        """The object in the newest state, or in any cached one (0). None when it does not exist."""
        reading = self.storage_at(path).get(self.request(path, namespace), name, resource_version=resource_version)
        found: StoredObject | None = await _unless_missing(reading)
        return found

    async def list(self, path: ResourcePath, namespace: str = "", *, limit: int = 0) -> ListResult:
        """The objects in their newest state, of one namespace or of all."""
        request = self.request(path, namespace)
        listed: ListResult = await self.storage_at(path).list(request, ListOptions(limit=limit))
        return listed

    async def create(self, path: ResourcePath, hub: Object, *, namespace: str = "", name: str = "") -> Any:
        """Create a hub object, which is used up. name: of the parent, for subresources. Raises StatusError."""
        options = CreateOptions(field_manager=self.manager)
        return await self.storage_at(path).create(self.request(path, namespace), hub, options, name=name)

    async def change(
        self,
        path: ResourcePath,
        namespace: str,
        name: str,
        change: Callable[[Object], bool | None],
        *,
        uid: str = "",
    ) -> StoredObject | None:
        """Let `change` repair the newest state in place; False means no change. The result, None if unchanged.

        Raises NotFound; Replaced when the object has another uid than the given one.
        """

        def changed(present: Object) -> Made:
            if uid and present["metadata"]["uid"] != uid:
                raise Replaced
            if change(present) is False:
                raise Unchanged
            return Made(present)

        return await self.update(path, namespace, name, changed)

    async def update(
        self, path: ResourcePath, namespace: str, name: str, make: Callable[[Object], Made]
    ) -> StoredObject | None:
        """Write the state that `make` returns for the newest one; None when it raises Unchanged. Raises NotFound."""
        storage = self.storage_at(path)

        async def updated_state(current: StoredObject | None) -> Made:
            if current is None:
                raise errors.NotFound(storage.kind.resource, name)
            return make(current.decode())

        options = UpdateOptions(field_manager=self.manager)
        try:
            request = self.request(path, namespace, "update")
            updated = await storage.update(request, name, UpdatedObject(updated_state), options)
        except Unchanged:
            return None
        stored: StoredObject = updated.stored
        return stored

    async def delete(
        self, path: ResourcePath, namespace: str, name: str, options: DeleteOptions
    ) -> StoredObject | None:
        """The object's last state; None when it did not exist. Raises Conflict."""
        deleting = self.storage_at(path).delete(self.request(path, namespace), name, options)
        deleted: Deleted | None = await _unless_missing(deleting)
        return deleted.stored if deleted is not None else None

    async def delete_collection(self, path: ResourcePath, namespace: str, options: DeleteOptions) -> None:
        await self.storage_at(path).delete_collection(self.request(path, namespace), options, ListOptions())


async def _unless_missing(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except errors.NotFound:
        return None
