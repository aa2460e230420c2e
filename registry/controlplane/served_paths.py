"""served_paths: every path of the API that this server serves, by group, version and resource.

Looked up for every request. What Kubernetes brings is there from the start; CustomResourceDefinitions come and go. Must
hold: a definition never takes a path that Kubernetes has.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.generic.rest import RESTStorage
from aio_apiserver.registry.generic.served import Served, served_of
from aio_apiserver.registry.groups.apiextensions import versions
from aio_apiserver.registry.groups.apiextensions.definition import Definition
from aio_apiserver.registry.groups.apiextensions.offers import Offer
from aio_apiserver.registry.machinery.schema import Catalog
from aio_apiserver.storage.clock import Clock

Path = tuple[str, str, str]
"""A group, a version and a path (`pods`, `pods/status`)."""
ServedGroups = Mapping[str, Mapping[str, Mapping[str, Served[Any]]]]
"""By group, version and path, each in the order of discovery."""


class ServedPaths:
    """Everything that is served. `generation` changes with it."""

    def __init__(self, fixed: Mapping[Path, Served[Any]], types: Catalog, clock: Clock) -> None:
        self._fixed = dict(fixed)
        self._types = types
        self._clock = clock
        self._by_path = dict(fixed)
        self._offers: dict[str, Offer] = {}
        self._of_offer: dict[str, dict[Path, Served[Any]]] = {}
        self.generation = 0

    def get(self, path: Path) -> Served[Any] | None:
        return self._by_path.get(path)

    def __iter__(self) -> Iterator[Path]:
        return iter(self._by_path)

    def items(self) -> Iterator[tuple[Path, Served[Any]]]:
        return iter(self._by_path.items())

    @property
    def fixed_groups(self) -> ServedGroups:
        """What Kubernetes brings."""
        return _grouped(self._fixed)

    @property
    def told_groups(self) -> ServedGroups:
        """All that is told: Kubernetes' own groups first. What clients add to one of those stands in it."""
        groups = dict(self.fixed_groups)
        for name, added in self.custom_groups.items():
            groups[name] = _joined(groups.get(name, {}), added)
        return groups

    @property
    def custom_groups(self) -> ServedGroups:
        """What clients have defined, as far as it is told."""
        told = {
            path: served
            for name in sorted(self._of_offer, key=lambda name: (self._offers[name].definition.group, name))
            if self._offers[name].is_told
            for path, served in self._of_offer[name].items()
        }
        groups = _grouped(told)
        return {
            group: dict(sorted(paths.items(), key=lambda one: versions.priority(one[0])))
            for group, paths in groups.items()
        }

    @property
    def definitions(self) -> Sequence[Definition]:
        """The definitions of what clients have defined, as far as it is told, by name."""
        return [offer.definition for _, offer in sorted(self._offers.items()) if offer.is_told]

    def publish(self, name: str, offer: Offer | None) -> None:
        """Serve what a definition offers from now on, or nothing of it any more."""
        for path in self._of_offer.pop(name, {}):
            del self._by_path[path]
        self._offers.pop(name, None)
        if offer is not None:
            self._offers[name] = offer
            paths = self._of_offer[name] = self._served_of(offer)
            self._by_path.update(paths)
        self.generation += 1

    def _served_of(self, offer: Offer) -> dict[Path, Served[Any]]:
        group = offer.definition.group
        return {
            (group, version, path): served_of(version, path, storage, self._types, self._clock)
            for version, paths in offer.versions.items()
            for path, storage in paths.items()
            if (group, version, path) not in self._fixed
        }


def _grouped(paths: Mapping[Path, Served[Any]]) -> ServedGroups:
    groups: dict[str, dict[str, dict[str, Served[Any]]]] = {}
    for (group, version, path), one in paths.items():
        groups.setdefault(group, {}).setdefault(version, {})[path] = one
    return groups


def _joined(
    versions: Mapping[str, Mapping[str, Served[Any]]], added: Mapping[str, Mapping[str, Served[Any]]]
) -> Mapping[str, Mapping[str, Served[Any]]]:
    names = dict.fromkeys([*versions, *added])
    return {name: {**versions.get(name, {}), **added.get(name, {})} for name in names}


def index(groups: Mapping[str, Mapping[str, Mapping[str, RESTStorage]]], types: Catalog, clock: Clock) -> ServedPaths:
    """Everything that Kubernetes serves, from the storages of each group by version and path."""
    fixed = {
        (group, version, path): served_of(version, path, storage, types, clock)
        for group, of_group in groups.items()
        for version, paths in of_group.items()
        for path, storage in paths.items()
    }
    return ServedPaths(fixed, types, clock)
