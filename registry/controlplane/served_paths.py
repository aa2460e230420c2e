"""served_paths: finds the REST storage for a request's group, version and resource.

Each request looks here. Kubernetes' own paths are there from the start; CustomResourceDefinitions add and remove
theirs. Must hold: a definition leaves the paths of built-in kinds as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.generic.rest import RESTStorage
from aio_apiserver.registry.generic.served import Served, served_of
from aio_apiserver.registry.groups.apiextensions.definitions import versions
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Definition
from aio_apiserver.registry.groups.apiextensions.serving.offer import Offer
from aio_apiserver.registry.machinery.schema import Catalog

Path = tuple[str, str, str]
"""A group, a version and a path (`pods`, `pods/status`)."""
ServedGroups = Mapping[str, Mapping[str, Mapping[str, Served[Any]]]]
"""By group, version and path, each in the order of discovery."""


class ServedPaths:
    """All served paths. `generation` changes with them."""

    def __init__(self, fixed: Mapping[Path, Served[Any]], types: Catalog, clock: Clock) -> None:
        self._fixed = dict(fixed)
        self._types = types
        self._clock = clock
        self._by_path = dict(fixed)
        self._offers: dict[str, Offer] = {}
        self._of_offer: dict[str, dict[Path, Served[Any]]] = {}
        self.generation = 0
        self.get = self._by_path.get
        """What is served at a path, or None."""

    def __iter__(self) -> Iterator[Path]:
        return iter(self._by_path)

    def items(self) -> Iterator[tuple[Path, Served[Any]]]:
        return iter(self._by_path.items())

    @property
    def fixed_groups(self) -> ServedGroups:
        """Kubernetes' own groups."""
        return _grouped(self._fixed)

    @property
    def told_groups(self) -> ServedGroups:
        """All groups for discovery: Kubernetes' own first. Custom versions of such a group stand in it."""
        groups = dict(self.fixed_groups)
        for name, added in self.custom_groups.items():
            groups[name] = _joined(groups.get(name, {}), added)
        return groups

    @property
    def custom_groups(self) -> ServedGroups:
        """The groups of custom resources that discovery shows."""
        described = {
            path: served
            for name in sorted(self._of_offer, key=lambda name: (self._offers[name].definition.group, name))
            if self._offers[name].is_told
            for path, served in self._of_offer[name].items()
        }
        groups = _grouped(described)
        return {
            group: dict(sorted(paths.items(), key=lambda one: versions.priority(one[0])))
            for group, paths in groups.items()
        }

    @property
    def definitions(self) -> Sequence[Definition]:
        """The definitions that OpenAPI describes, by name: those of resources with objects in storage."""
        return [offer.definition for _, offer in sorted(self._offers.items()) if offer.is_told and offer.stores]

    def publish(self, name: str, offer: Offer | None) -> None:
        """Serve the paths of a definition's offer from now on; with None, remove them."""
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
    """The served paths of Kubernetes' own groups, from their REST storages by version and path."""
    fixed = {
        (group, version, path): served_of(version, path, storage, types, clock)
        for group, of_group in groups.items()
        for version, paths in of_group.items()
        for path, storage in paths.items()
    }
    return ServedPaths(fixed, types, clock)
