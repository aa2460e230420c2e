"""Client: a controller as a client of the server's resources, without the wire.

Its requests wait for the limit of their client and pass flow control. Its writes take the way of every write: defaults,
admission, rules, managers, storage; only who it is needs no proof.
Must hold: an object that is already as it should be is not written; informers hear of every write that is made here.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.controllers.runtime.flow_control import FlowControl, ResourceRequest
from aio_apiserver.controllers.runtime.rate_limiter import RateLimiter
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.generic.access.users import UserInfo, authenticated
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions
from aio_apiserver.registry.generic.rest import Made, Request, UpdatedObject
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.storage.interface import ListOptions, Preconditions
from aio_apiserver.storage.stored_object import Object, StoredObject
from aio_apiserver.storage.yielding import in_turns


class Place(NamedTuple):
    """Where objects of one kind are: `deployments`, or `deployments/status` to write a part of them."""

    group: str
    version: str
    path: str

    @property
    def resource(self) -> "Place":
        """The place of the whole objects."""
        return Place(self.group, self.version, self.path.partition("/")[0])

    def part(self, subresource: str) -> "Place":
        return Place(self.group, self.version, f"{self.path}/{subresource}")


Expect = Callable[[Place, str, int], None]
"""Hears of a write: the place, the object's key, the revision."""


class _LeaveAsItIs(Exception):
    """An object turned out to be right."""


class _AnotherOne(Exception):
    """An object of that name was made anew since it was looked at."""


def _say_nothing(_text: str) -> None:
    """Warnings are for people."""


def key_of(obj: Object) -> str:
    """Where an object is kept: `namespace/name`, or the name of what has no namespace."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def split(key: str) -> tuple[str, str]:
    """The namespace and the name in a key."""
    namespace, _, name = key.rpartition("/")
    return namespace, name


class NotServed(errors.StatusError):
    """No resource has this place: its definition may have gone."""

    code = 404
    reason = "NotFound"

    def __init__(self, place: Place) -> None:
        super().__init__(f"{place.path}.{place.group} is not served")


class Client(Struct, frozen=True):
    """Reads and writes as one user, under one field manager. Without `limiter` it has no limit of its own."""

    served: ServedPaths
    flow: FlowControl
    expect: Expect
    user: UserInfo
    manager: str
    limiter: RateLimiter | None = None

    def acting_as(self, name: str, *groups: str, manager: str) -> "Client":
        """The same as another user."""
        return replace(self, user=authenticated(UserInfo(name=name, groups=groups)), manager=manager)

    def limited(self, limiter: RateLimiter) -> "Client":
        """The same with a limit."""
        return replace(self, limiter=limiter)

    def at(self, place: Place) -> Served[Any]:
        """What is served there. Raises NotServed."""
        served = self.served.get(place)
        if served is None:
            raise NotServed(place)
        return served

    def resources(self, *verbs: str) -> Iterator[Place]:
        """Where whole objects are kept that can be dealt with in all these ways, each once."""
        seen = set()
        for (group, version, path), one in self.served.items():
            if (group, path) in seen or not isinstance(one.storage, Store) or "/" in path:
                continue
            if all(verb in one.kind.verbs for verb in verbs):
                seen.add((group, path))
                yield Place(group, version, path)

    async def get(self, place: Place, key: str) -> Object | None:
        """The newest state of an object; None when it is gone."""
        namespace, name = split(key)
        async with self._seat("get", place, namespace, name):
            try:
                found: StoredObject = await self.at(place).storage.get(self._request(place, namespace), name)
            except errors.NotFound:
                return None
            return found.decode()

    async def list(self, place: Place, namespace: str = "") -> list[Object]:
        """The newest state of all."""
        async with self._seat("list", place, namespace):
            found = await self.at(place).storage.list(self._request(place, namespace), ListOptions())
        return [item.decode() async for item in in_turns(found.items)]

    async def has_any(self, place: Place, namespace: str) -> bool:
        """Whether there are objects of a kind in a namespace."""
        async with self._seat("list", place, namespace):
            found = await self.at(place).storage.list(self._request(place, namespace), ListOptions(limit=1))
        return bool(found.items)

    async def create(self, place: Place, obj: Object, *, namespace: str = "") -> Object:
        """Make an object, of which nothing is used up: it may share parts with others. Raises StatusError."""
        async with self._seat("create", place, namespace):
            one = self.at(place)
            request, hub = self._request(place, namespace), one.view.to_hub(objects.clone(obj))
            stored = await one.storage.create(request, hub, CreateOptions(field_manager=self.manager))
        self.expect(place, stored.key, stored.revision)
        created: Object = stored.decode()
        return created

    async def post(self, place: Place, name: str, obj: Object, *, namespace: str) -> None:
        """Have something done to an object. Raises StatusError."""
        async with self._seat("create", place, namespace, name):
            one = self.at(place)
            request, options = self._request(place, namespace), CreateOptions(field_manager=self.manager)
            await one.storage.create(request, one.view.to_hub(obj), options, name=name)

    async def change(self, place: Place, obj: Object, change: Callable[[Object], bool | None]) -> Object | None:
        """Let `change` mend the newest state of an object in place; False says that it is right as it is.

        None when it is gone, or another one has its name now.
        """
        namespace, name = split(key_of(obj))
        uid = obj["metadata"].get("uid")

        async def make(current: StoredObject | None) -> Made:
            if current is None:
                raise errors.NotFound(self.at(place).resource, name)
            present = current.decode()
            if uid and present["metadata"]["uid"] != uid:
                raise _AnotherOne
            if change(present) is False:
                raise _LeaveAsItIs
            return Made(present)

        options = UpdateOptions(field_manager=self.manager)
        try:
            async with self._seat("update", place, namespace, name):
                request = self._request(place, namespace)
                updated = await self.at(place).storage.update(request, name, UpdatedObject(make), options)
        except _LeaveAsItIs:
            return obj
        except (errors.NotFound, _AnotherOne):
            return None
        stored: StoredObject = updated.stored
        self.expect(place.resource, stored.key, stored.revision)
        return stored.decode()

    async def delete(
        self,
        place: Place,
        obj: Object,
        *,
        policy: str | None = None,
        grace: int | None = None,
        is_unchanged: bool = False,
    ) -> bool:
        """Delete this very object (if so said, only as it is here); whether it was still there. Raises Conflict."""
        metadata = obj["metadata"]
        version = metadata["resourceVersion"] if is_unchanged else None
        options = DeleteOptions(
            preconditions=Preconditions(metadata["uid"], version), propagation_policy=policy, grace_period_seconds=grace
        )
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        async with self._seat("delete", place, namespace, name):
            try:
                deleted = await self.at(place).storage.delete(self._request(place, namespace), name, options)
            except errors.NotFound:
                return False
        self.expect(place, deleted.stored.key, deleted.stored.revision)
        return True

    async def delete_all(self, place: Place, namespace: str) -> None:
        """Delete what a namespace holds of a kind."""
        options = DeleteOptions(propagation_policy="Background")
        async with self._seat("deletecollection", place, namespace):
            await self.at(place).storage.delete_collection(self._request(place, namespace), options, ListOptions())

    @asynccontextmanager
    async def _seat(self, verb: str, place: Place, namespace: str, name: str = "") -> AsyncIterator[None]:
        """One request. Raises TooManyRequests."""
        if self.limiter is not None:
            await self.limiter.wait()
        resource, _, subresource = place.path.partition("/")
        asked = ResourceRequest(verb, place.group, place.version, namespace, resource, subresource, name)
        async with self.flow.seat(self.user, asked):
            yield

    def _request(self, place: Place, namespace: str) -> Request:
        return Request(
            user=self.user, version=place.version, warn=_say_nothing, namespace=namespace, manager=self.manager
        )
