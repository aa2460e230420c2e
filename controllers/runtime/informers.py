"""Informers: the present objects of resources, in memory, for all controllers together.

Each resource is followed once, from the first controller that asks on. Must hold: who has waited in `caught_up` sees
every write that controllers had made before; objects here belong to nobody and are never changed.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain

from aio_apiserver.controllers.runtime.client import Place
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.generic.following import Following
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.errors import Unavailable
from aio_apiserver.storage.interface import Watch, WatchOptions, WatchSink
from aio_apiserver.storage.stored_object import Object, StoredObject
from aio_apiserver.storage.tasks import Tasks

Listener = Callable[[str, Object | None, Object | None], None]
"""Hears of a change: the key, the object before and after; None when there is none."""

_PATIENCE_SECONDS = 5.0
"""How long a write is waited for: a watch that had to begin anew may never show what came and went."""


def controller_uid(obj: Object) -> str:
    """The uid of the object that controls another; empty when none does."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return str(owner["uid"])
    return ""


class _Served:
    """The storage of a place as it is whenever a watch begins: definitions come, change and go."""

    def __init__(self, served: ServedPaths, place: Place) -> None:
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

    def __init__(self, served: ServedPaths, place: Place, read: Callable[[StoredObject], Object]) -> None:
        self.place = place
        self._following = Following(_Served(served, place), read, self._changed)
        self._listeners: list[Listener] = []
        self._known: dict[str, Object] = {}
        self._groups: dict[str, dict[str, dict[str, Object]]] = {}
        """By namespace and by the uid of who controls them."""
        self._awaited: dict[str, tuple[int, asyncio.Future[None]]] = {}

    @property
    def items(self) -> Mapping[str, Object]:
        """By key."""
        return self._known

    def get(self, key: str) -> Object | None:
        return self._known.get(key)

    def controlled_by(self, namespace: str, uid: str) -> Collection[Object]:
        """What an object controls; without a uid, what nobody does."""
        return self._groups.get(namespace, {}).get(uid, {}).values()

    def in_namespace(self, namespace: str) -> Iterator[Object]:
        return chain.from_iterable(group.values() for group in self._groups.get(namespace, {}).values())

    def listen(self, listener: Listener) -> None:
        """Call it for what is there, and for every change from now on."""
        self._listeners.append(listener)
        for key, obj in self._known.items():
            listener(key, None, obj)

    async def run(self, clock: Clock) -> None:
        """Follow until cancelled."""
        await self._following.run(clock)

    async def wait_until_current(self) -> None:
        await self._following.wait_until_current()

    def expect(self, key: str, revision: int) -> None:
        """A write was made that is going to show."""
        if _revision(self._known.get(key)) >= revision:
            return
        awaited = self._awaited.get(key)
        future = awaited[1] if awaited is not None else asyncio.get_running_loop().create_future()
        self._awaited[key] = revision, future

    def awaited(self) -> list[asyncio.Future[None]]:
        """The writes that do not show yet."""
        return [future for _, future in self._awaited.values()]

    def give_up(self, futures: Collection[asyncio.Future[None]]) -> None:
        """Wait for these no longer."""
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
    """An object as kube-controller-manager keeps it: managedFields would be half of what is kept."""
    obj = stored.decode()
    obj["metadata"].pop("managedFields", None)
    return obj


class Informers:
    """All that is followed."""

    def __init__(self, served: ServedPaths, clock: Clock) -> None:
        self._served = served
        self._patience = clock.patience
        self._open: dict[Place, Informer] = {}
        self._tasks = Tasks()

    def of(self, place: Place) -> Informer:
        """The informer of a resource; it begins now unless somebody else has asked for it before."""
        informer = self._open.get(place)
        if informer is None:
            informer = self._open[place] = Informer(self._served, place, _without_owners_of_fields)
            self.follow(informer)
        return informer

    def follow(self, informer: Informer) -> "asyncio.Task[None]":
        """Keep an informer up to date until the task is cancelled."""
        return self._tasks.spawn(informer.run(self._patience), name=f"follow {informer.place.path}")

    def expect(self, place: Place, key: str, revision: int) -> None:
        """Somebody has written."""
        informer = self._open.get(place)
        if informer is not None:
            informer.expect(key, revision)

    async def caught_up(self) -> None:
        """Return when everything shows that controllers have written until now."""
        awaited = {future for informer in self._open.values() for future in informer.awaited()}
        if not awaited:
            return
        patience = self._tasks.spawn(self._lose_patience(awaited), name="wait for writes to show")
        try:
            await asyncio.wait(awaited)
        finally:
            patience.cancel()

    async def _lose_patience(self, awaited: Collection["asyncio.Future[None]"]) -> None:
        await self._patience.sleep(_PATIENCE_SECONDS)
        for informer in self._open.values():
            informer.give_up(awaited)

    async def close(self) -> None:
        await self._tasks.close()
