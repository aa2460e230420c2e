"""Staged places: the resources that Stages are for, followed while they are served and have Stages."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.controller import Desk
from aio_apiserver.controllers.runtime.informers import Informer
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.simulation.stages.stage import Staged
from aio_apiserver.storage.stored_object import StoredObject

Changed = Callable[[ResourcePath, str, Object | None], None]
"""Called with the place, the key and the new state of an object; None when it is gone."""


def queue_key(place: ResourcePath, key: str) -> str:
    """The place and the key of an object as one text."""
    return f"{place.group}/{place.version}/{place.path} {key}"


def parsed_key(text: str) -> tuple[ResourcePath, str]:
    """The place and the key of an object."""
    place, _, key = text.partition(" ")
    group, version, path = place.split("/")
    return ResourcePath(group, version, path), key


class StagedPlaces:
    """The followed resources, by place."""

    def __init__(self, desk: Desk, changed: Changed) -> None:
        self._desk = desk
        self._changed = changed
        self._followed: dict[ResourcePath, tuple[Informer, asyncio.Task[None]]] = {}
        self._kinds: dict[ResourcePath, Staged] = {}

    def kind_of(self, place: ResourcePath) -> Staged | None:
        return self._kinds.get(place)

    def get(self, place: ResourcePath, key: str) -> Object | None:
        followed = self._followed.get(place)
        return followed[0].get(key) if followed is not None else None

    def items(self, place: ResourcePath) -> Collection[Object]:
        followed = self._followed.get(place)
        return followed[0].items.values() if followed is not None else ()

    def objects_of(self, kinds: Collection[Staged]) -> Iterator[tuple[ResourcePath, str]]:
        """The place and the key of each known object of these kinds."""
        for place, kind in self._kinds.items():
            if kind in kinds and place in self._followed:
                for key in self._followed[place][0].items:
                    yield place, key

    def follow(self, place: ResourcePath) -> None:
        """Follow a resource if it is served, and stop if it is not."""
        is_served = self._desk.client.served.get(place) is not None
        if is_served and place not in self._followed:
            self._open(place)
        elif not is_served:
            self._close(place)

    def follow_kinds(self, kinds: Iterable[Staged], *, besides: ResourcePath) -> None:
        """Follow the served resources of these kinds, and no others but `besides`."""
        wanted = set(kinds)
        served = {place: kind for place, kind in self._served() if kind in wanted}
        for place in self._followed.keys() - served.keys() - {besides}:
            self._close(place)
        self._kinds = served
        for place in served.keys() - self._followed.keys():
            self._open(place)

    def _served(self) -> Iterator[tuple[ResourcePath, Staged]]:
        for (group, version, path), one in self._desk.client.served.items():
            verbs = one.kind.verbs
            if "/" not in path and "list" in verbs and "watch" in verbs:
                api_version = GroupVersionKind(group, version, one.kind.kind).api_version
                yield ResourcePath(group, version, path), (api_version, one.kind.kind)

    def _open(self, place: ResourcePath) -> None:
        def read(stored: StoredObject) -> Object:
            obj = self._desk.client.at(place).view.versioned(stored.decode())
            obj["metadata"].pop("managedFields", None)
            return obj

        informer = Informer(self._desk.client.served, place, read)
        informer.listen(lambda key, _before, after: self._changed(place, key, after))
        self._followed[place] = informer, self._desk.informers.follow(informer)

    def _close(self, place: ResourcePath) -> None:
        followed = self._followed.pop(place, None)
        if followed is not None:
            followed[1].cancel()
