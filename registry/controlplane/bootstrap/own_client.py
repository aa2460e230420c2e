"""OwnClient: the server as a client of its own resources.

What the server makes takes the way of every write: admission, rules, managers, storage. Must hold: an object that is
there already and right is not written; two servers that begin at once end with one object.
"""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.controlplane.assembly import Groups
from aio_apiserver.registry.generic.access.users import MASTERS, UserInfo, authenticated
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation, Made, Request, Updated, UpdatedObject
from aio_apiserver.registry.machinery.view import typed
from aio_apiserver.storage.interface import ListOptions, Preconditions, Storage
from aio_apiserver.storage.stored_object import Object, StoredObject

FIELD_MANAGER = "kube-apiserver"
_USER = authenticated(UserInfo(name="system:apiserver", groups=(MASTERS,)))


class Place(NamedTuple):
    """Where objects of one kind are."""

    group: str
    version: str
    path: str


class _LeaveAsItIs(Exception):
    """An object turned out to be right."""


def _say_nothing(_text: str) -> None:
    """Warnings are for people."""


class OwnClient:
    """Reads and writes as kube-apiserver's own user, in the versions in which objects are stored."""

    def __init__(self, groups: Groups, given: Foundation) -> None:
        self._groups = groups
        self._types = given.types
        self._storage_for = given.storage_for

    async def create_missing(
        self, place: Place, obj: Object, *, namespace: str = "", manager: str = FIELD_MANAGER
    ) -> None:
        """Make an object unless there is one of its name."""
        store = self._at(place)
        kind = store.object_kind(place.version)
        self._types.type_for(kind.group, kind.version, kind.kind).apply_defaults(obj)
        store.kind.strategy.default(obj)
        name = obj["metadata"]["name"]
        request = _request(place, namespace)
        try:
            await store.get(request, name, resource_version=0)
        except errors.NotFound:
            try:
                await store.create(request, obj, CreateOptions(field_manager=manager))
            except errors.AlreadyExists:
                return

    async def change(
        self,
        place: Place,
        name: str,
        change: Callable[[Object], bool],
        *,
        namespace: str = "",
        manager: str = FIELD_MANAGER,
    ) -> None:
        """Let `change` mend an object in place; it returns whether there was something to mend. Raises NotFound."""
        store = self._at(place)

        async def make(current: StoredObject | None) -> Made:
            if current is None:
                raise errors.NotFound(store.kind.resource, name)
            obj = current.decode()
            if not change(obj):
                raise _LeaveAsItIs
            return Made(obj)

        await _unless_right(store.update(_request(place, namespace), name, UpdatedObject(make), _options(manager)))

    async def apply_status(
        self, place: Place, name: str, wanted: Callable[[Object], Object | None], *, manager: str
    ) -> None:
        """Apply the status that `wanted` says of an object without a namespace, if it says one. Raises NotFound."""
        store = self._at(place)
        owners = store.field_manager(place.version)
        kind = typed(store.object_kind(place.version), {"metadata": {"name": name}})

        async def make(current: StoredObject | None) -> Made:
            if current is None:
                raise errors.NotFound(store.kind.resource, name)
            obj = current.decode()
            status = wanted(obj)
            if status is None:
                raise _LeaveAsItIs
            applied: Object = owners.apply(obj, {**kind, "status": status}, manager, force=True)
            return Made(applied, owners_known=True)

        updated = UpdatedObject(make)
        await _unless_right(store.update(_request(place, ""), name, updated, _options(manager)))

    async def delete(self, place: Place, name: str, *, namespace: str = "", uid: str | None = None) -> None:
        """Remove an object if it is there, and if it is the one of this uid."""
        options = DeleteOptions(preconditions=Preconditions(uid))
        try:
            await self._at(place).delete(_request(place, namespace), name, options)
        except (errors.NotFound, errors.Conflict):
            return

    async def find(self, place: Place, name: str) -> Object | None:
        """The object of this name without a namespace, as it is now, if it is there."""
        try:
            found: StoredObject = await self._at(place).get(_request(place, ""), name)
        except errors.NotFound:
            return None
        return found.decode()

    async def all(self, place: Place, *, namespace: str = "") -> list[Object]:
        """The objects that are there."""
        found = await self._at(place).list(_request(place, namespace), ListOptions())
        return [item.decode() for item in found.items]

    def storage(self, place: Place) -> Storage:
        """The storage of a place, to watch it."""
        return self._storage_for(resource_of(self._at(place).kind))

    def _at(self, place: Place) -> Any:
        """What can be done there, the caller knows."""
        return self._groups[place.group][place.version][place.path]


async def _unless_right(update: Awaitable[Updated]) -> None:
    try:
        await update
    except _LeaveAsItIs:
        return


def _options(manager: str) -> UpdateOptions:
    return UpdateOptions(field_manager=manager)


def _request(place: Place, namespace: str) -> Request:
    return Request(user=_USER, version=place.version, warn=_say_nothing, namespace=namespace)
