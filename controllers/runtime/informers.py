"""Informers: the present objects of resources in memory, shared by all controllers of a server.

A resource is followed from its first use. Must hold: after `caught_up`, all earlier writes of controllers are visible.
Objects of informers are not changed.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.generic.following import Following
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.storage.errors import Unavailable
from aio_apiserver.storage.interface import Watch, WatchOptions, WatchSink
from aio_apiserver.storage.stored_object import StoredObject

Listener = Callable[[str, Object | None, Object | None], None]
"""Called for each change with the key and the object before and after; None for a missing one."""

_PATIENCE_SECONDS = 5.0
"""The longest wait for a write to arrive: a watch that was restarted may skip short-lived objects."""


def controller_uid(obj: Object) -> str:
    """The uid of the controller owner of an object; empty without one."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return str(owner["uid"])
    return ""


class _Served:
    """A resource whose storage is looked up at each start of a watch, since definitions come, change and go."""

    def __init__(self, served: ServedPaths, place: ResourcePath) -> None:
        self._served = served
        self._place = place

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch:
        served = self._served.get(self._place)
        if served is None:
            raise Unavailable(f"{self._place.path}.{self._place.group} is not served")
        watch: Watch = await served.storage.storage.watch(key, options, sink)
        return watch


class Informer:
    """The objects of one resource."""

    def __init__(self, served: ServedPaths, place: ResourcePath, read: Callable[[StoredObject], Object]) -> None:
        self.place = place
        self._following = Following(_Served(served, place), read, self._changed)
        self._listeners: list[Listener] = []
        self._known: dict[str, Object] = {}
        self._groups: dict[str, dict[str, dict[str, Object]]] = {}
        """The objects by namespace and by the uid of their controller owner."""
        self._awaited: dict[str, tuple[int, asyncio.Future[None]]] = {}

    @property
    def items(self) -> Mapping[str, Object]:
        """The objects by key."""
        return self._known

    def get(self, key: str) -> Object | None:
        return self._known.get(key)

    def controlled_by(self, namespace: str, uid: str) -> Collection[Object]:
        """The objects that an owner controls; with an empty uid, objects without a controller owner."""
        return self._groups.get(namespace, {}).get(uid, {}).values()

    def in_namespace(self, namespace: str) -> Iterator[Object]:
        return chain.from_iterable(group.values() for group in self._groups.get(namespace, {}).values())

    def listen(self, listener: Listener) -> None:
        """Call the listener for all present objects, and for every change from now on."""
        self._listeners.append(listener)
        for key, obj in self._known.items():
            listener(key, None, obj)

    async def run(self, clock: Clock) -> None:
        """Follow the resource until cancelled."""
        await self._following.run(clock)

    async def wait_until_current(self) -> None:
        await self._following.wait_until_current()

    def expect(self, key: str, revision: int, may_be_gone: bool) -> None:
        """Wait for this write in `caught_up`. An event may come before the answer to the write that has caused it."""
        has_ended = may_be_gone and key not in self._known and key not in self._awaited
        if has_ended or _revision(self._known.get(key)) >= revision:
            return
        awaited = self._awaited.get(key)
        future = awaited[1] if awaited is not None else asyncio.get_running_loop().create_future()
        self._awaited[key] = revision, future

    def awaited(self) -> list[asyncio.Future[None]]:
        """The writes that have not arrived."""
        return [future for _, future in self._awaited.values()]

    def give_up(self, futures: Collection[asyncio.Future[None]]) -> None:
        """Do not wait for these writes any more."""
        for key, (_, future) in list(self._awaited.items()):
            if future in futures:
                del self._awaited[key]
                future.set_result(None)

    def _changed(self, keys: Collection[str]) -> None:
        for key in keys:
            before, after = self._known.get(key), self._following.items.get(key)
            self._settle(key, before, after)
            self._arrived(key, after)
            if before is not after:
                for listener in self._listeners:
                    listener(key, before, after)

    def _settle(self, key: str, before: Object | None, after: Object | None) -> None:
        if before is not None:
            del self._known[key]
            self._forget(key, before)
        if after is not None:
            self._known[key] = after
            group = self._groups.setdefault(_namespace(after), {})
            group.setdefault(controller_uid(after), {})[key] = after

    def _forget(self, key: str, obj: Object) -> None:
        namespace, uid = _namespace(obj), controller_uid(obj)
        groups = self._groups[namespace]
        del groups[uid][key]
        if not groups[uid]:
            del groups[uid]
        if not groups:
            del self._groups[namespace]

    def _arrived(self, key: str, after: Object | None) -> None:
        awaited = self._awaited.get(key)
        if awaited is not None and (after is None or _revision(after) >= awaited[0]):
            del self._awaited[key]
            awaited[1].set_result(None)


def _namespace(obj: Object) -> str:
    return str(obj["metadata"].get("namespace", ""))


def _revision(obj: Object | None) -> int:
    return int(obj["metadata"]["resourceVersion"]) if obj is not None else 0


def _without_owners_of_fields(stored: StoredObject) -> Object:
    """The object without managedFields, which would be half of the memory. kube-controller-manager drops them, too."""
    obj = stored.decode()
    obj["metadata"].pop("managedFields", None)
    return obj


class Informers:
    """The informers of one server."""

    def __init__(self, served: ServedPaths, clock: Clock) -> None:
        self._served = served
        self._patience = clock.patience
        self._open: dict[ResourcePath, Informer] = {}
        self._tasks = Tasks()

    def of(self, place: ResourcePath) -> Informer:
        """The informer of a resource. The first call starts it."""
        informer = self._open.get(place)
        if informer is None:
            informer = self._open[place] = Informer(self._served, place, _without_owners_of_fields)
            self.follow(informer)
        return informer

    def follow(self, informer: Informer) -> "asyncio.Task[None]":
        """Keep an informer current until the task is cancelled."""
        return self._tasks.spawn(informer.run(self._patience), name=f"follow {informer.place.path}")

    def expect(self, place: ResourcePath, key: str, revision: int, may_be_gone: bool) -> None:
        """Wait for this write of a controller in `caught_up`."""
        informer = self._open.get(place)
        if informer is not None:
            informer.expect(key, revision, may_be_gone)

    async def caught_up(self) -> None:
        """Return when all writes of controllers so far are visible."""
        awaited = {future for informer in self._open.values() for future in informer.awaited()}
        if not awaited:
            return
        patience = self._tasks.spawn(self._give_up_later(awaited), name="wait for writes to show")
        try:
            await asyncio.wait(awaited)
        finally:
            patience.cancel()

    async def _give_up_later(self, awaited: Collection["asyncio.Future[None]"]) -> None:
        await self._patience.sleep(_PATIENCE_SECONDS)
        for informer in self._open.values():
            informer.give_up(awaited)

    async def close(self) -> None:
        await self._tasks.close()
