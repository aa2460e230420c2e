"""Client: reads and writes the server's resources for a controller, in the process, without HTTP.

Requests wait for the client-side rate limit and pass flow control. Writes pass defaults, admission, validation, field
managers and storage; authentication is not needed.

Must hold: an object that is already as wanted is not written. Informers expect every write of a client.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.controllers.runtime.flow_control import FlowControl, ResourceRequest
from aio_apiserver.controllers.runtime.rate_limiter import RateLimiter
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.generic.access.users import UserInfo, authenticated
from aio_apiserver.registry.generic.bodies import patch_types, patching
from aio_apiserver.registry.generic.in_process_client import InProcessClient, Replaced, ResourcePath, ignore_warning
from aio_apiserver.registry.generic.options import DeleteOptions, PatchOptions, UpdateOptions
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.storage.interface import Preconditions
from aio_apiserver.storage.stored_object import StoredObject

Expect = Callable[[ResourcePath, str, int, bool], None]
"""Called for each write with the path, the key of the object, its revision, and whether it may be gone by now."""


def key_of(obj: Object) -> str:
    """The key of an object: `namespace/name`, or the name of a cluster-scoped object."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def split(key: str) -> tuple[str, str]:
    """The namespace and the name of a key."""
    namespace, _, name = key.rpartition("/")
    return namespace, name


class NotServed(errors.StatusError):
    """The resource is not served; its definition may be deleted."""

    code = 404
    reason = "NotFound"

    def __init__(self, place: ResourcePath) -> None:
        super().__init__(f"{place.path}.{place.group} is not served")


class ControllerClient(Struct, frozen=True):
    """Reads and writes as one user with one field manager. Without `limiter` there is no rate limit."""

    served: ServedPaths
    flow: FlowControl
    expect: Expect
    user: UserInfo
    manager: str
    limiter: RateLimiter | None = None

    def acting_as(self, name: str, *groups: str, manager: str) -> "ControllerClient":
        """The same client as another user."""
        return replace(self, user=authenticated(UserInfo(name=name, groups=groups)), manager=manager)

    def limited(self, limiter: RateLimiter) -> "ControllerClient":
        """The same client with a rate limit."""
        return replace(self, limiter=limiter)

    def at(self, place: ResourcePath) -> Served[Any]:
        """The served resource. Raises NotServed."""
        served = self.served.get(place)
        if served is None:
            raise NotServed(place)
        return served

    def resources(self, *verbs: str) -> Iterator[ResourcePath]:
        """All resources with these verbs, each once, without subresources."""
        seen = set()
        for (group, version, path), one in self.served.items():
            if (group, path) in seen or not isinstance(one.storage, Store) or "/" in path:
                continue
            if all(verb in one.kind.verbs for verb in verbs):
                seen.add((group, path))
                yield ResourcePath(group, version, path)

    def place_of(self, api_version: str, kind: str) -> ResourcePath:
        """The resource of a kind. Raises StatusError."""
        group = api_version.rpartition("/")[0]
        for place in self.resources("get"):
            if place.group == group and self.at(place).kind.kind == kind:
                return place
        raise errors.StatusError(f'no matches for kind "{kind}" in group "{group}"')

    async def get(self, place: ResourcePath, key: str) -> Object | None:
        """The newest state of an object; None when it is gone."""
        namespace, name = split(key)
        async with self._seat("get", place, namespace, name) as client:
            found = await client.get(place, namespace, name)
        return found.decode() if found is not None else None

    async def list(self, place: ResourcePath, namespace: str = "") -> list[Object]:
        """The newest state of all objects."""
        async with self._seat("list", place, namespace) as client:
            found = await client.list(place, namespace)
        return [item.decode() async for item in in_turns(found.items)]

    async def has_any(self, place: ResourcePath, namespace: str) -> bool:
        """Whether a namespace has objects of a resource."""
        async with self._seat("list", place, namespace) as client:
            return bool((await client.list(place, namespace, limit=1)).items)

    async def create(self, place: ResourcePath, obj: Object, *, namespace: str = "") -> Object:
        """Create an object. It is copied first, since it may share parts with other objects. Raises StatusError."""
        async with self._seat("create", place, namespace) as client:
            hub = self.at(place).view.to_hub(objects.clone(obj))
            stored: StoredObject = await client.create(place, hub, namespace=namespace)
        self.expect(place, stored.key, stored.revision, False)
        return stored.decode()

    async def post(self, place: ResourcePath, name: str, obj: Object, *, namespace: str) -> None:
        """Create through a subresource of an object, such as a binding. Raises StatusError."""
        async with self._seat("create", place, namespace, name) as client:
            await client.create(place, self.at(place).view.to_hub(obj), namespace=namespace, name=name)

    async def ask(self, place: ResourcePath, obj: Object) -> Object:
        """The answer of a resource that stores nothing, such as an access review. Raises StatusError."""
        async with self._seat("create", place, "") as client:
            answer: Object = await client.create(place, self.at(place).view.to_hub(objects.clone(obj)))
        return answer

    async def change(self, place: ResourcePath, obj: Object, change: Callable[[Object], bool | None]) -> Object | None:
        """Let `change` edit the newest state of an object in place; False means that nothing has to change.

        None when the object is gone, or its name belongs to another object now.
        """
        namespace, name = split(key_of(obj))
        try:
            async with self._seat("update", place, namespace, name) as client:
                stored = await client.change(place, namespace, name, change, uid=obj["metadata"].get("uid") or "")
        except (errors.NotFound, Replaced):
            return None
        if stored is None:
            return obj
        changed = stored.decode()
        self.expect(place.resource, stored.key, stored.revision, bool(changed["metadata"].get("deletionTimestamp")))
        return changed

    async def patch(
        self, place: ResourcePath, key: str, media_type: str, text: bytes, *, uid: str = ""
    ) -> Object | None:
        """Patch an object. uid: that of the object that is meant.

        None when it is gone, or its name belongs to another object now. Raises StatusError.
        """
        namespace, name = split(key)
        served = self.at(place)
        patch = patch_types.Patch(text, "Ignore", ignore_warning)
        kind, options = patch_types.patch_type(media_type, served.kind), PatchOptions(field_manager=self.manager)
        try:
            async with self._seat("patch", place, namespace, name) as client:
                request = client.request(place, namespace)
                updated = patching.updated(kind, patch, served, request, name, options=options)
                if uid:
                    updated = replace(updated, preconditions=Preconditions(uid, None))
                write = UpdateOptions(field_manager=self.manager)
                stored: StoredObject = (await served.storage.update(request, name, updated, write)).stored
        except errors.NotFound:
            return None
        except errors.Conflict:
            if uid and not await self._is_same(place.resource, key, uid):
                return None
            raise
        changed = stored.decode()
        self.expect(place.resource, stored.key, stored.revision, bool(changed["metadata"].get("deletionTimestamp")))
        return changed

    async def _is_same(self, place: ResourcePath, key: str, uid: str) -> bool:
        present = await self.get(place, key)
        return present is not None and present["metadata"]["uid"] == uid

    async def delete(
        self,
        place: ResourcePath,
        obj: Object,
        *,
        policy: str | None = None,
        grace: int | None = None,
        is_unchanged: bool = False,
    ) -> bool:
        """Delete this object by uid (`is_unchanged`: and by resource version). Returns whether it existed. Raises
        Conflict.
        """
        metadata = obj["metadata"]
        version = metadata["resourceVersion"] if is_unchanged else None
        options = DeleteOptions(
            preconditions=Preconditions(metadata["uid"], version), propagation_policy=policy, grace_period_seconds=grace
        )
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        async with self._seat("delete", place, namespace, name) as client:
            deleted = await client.delete(place, namespace, name, options)
        if deleted is None:
            return False
        self.expect(place, deleted.key, deleted.revision, True)
        return True

    async def delete_all(self, place: ResourcePath, namespace: str) -> None:
        """Delete all objects of a resource in a namespace."""
        async with self._seat("deletecollection", place, namespace) as client:
            await client.delete_collection(place, namespace, DeleteOptions(propagation_policy="Background"))

    @asynccontextmanager
    async def _seat(
        self, verb: str, place: ResourcePath, namespace: str, name: str = ""
    ) -> AsyncIterator[InProcessClient]:
        """One request under flow control. Raises TooManyRequests."""
        if self.limiter is not None:
            await self.limiter.wait()
        resource, _, subresource = place.path.partition("/")
        requested = ResourceRequest(verb, place.group, place.version, namespace, resource, subresource, name)
        async with self.flow.seat(self.user, requested):
            yield InProcessClient(self._storage_at, self.user, self.manager)

    def _storage_at(self, path: ResourcePath) -> Any:
        return self.at(path).storage
