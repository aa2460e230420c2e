"""Served: what is at a path of the APIs, found by group, version, resource and subresource.

Looked up for every request. What Kubernetes brings is there from the start, what clients define comes and goes. Knows
the registry's contracts, no verb. Must hold: a path that Kubernetes has is never taken by what clients define.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

from msgspec import Struct

from aio_apiserver.apiserver.handlers import verbs
from aio_apiserver.apiserver.serializers import protobuf
from aio_apiserver.apiserver.wire import negotiation
from aio_apiserver.registry.base.names import GroupKind, GroupResource
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import RESTStorage
from aio_apiserver.registry.generic.view import View
from aio_apiserver.registry.groups.apiextensions import versions
from aio_apiserver.registry.groups.apiextensions.definition import Definition
from aio_apiserver.registry.groups.apiextensions.offers import Offer
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.registry.machinery.printing.columns import Columns
from aio_apiserver.registry.machinery.printing.printers import columns_of
from aio_apiserver.registry.machinery.schema import Catalog, ObjectType
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.stored_object import Object

_WITH_TABLES = frozenset({"", "status", "scale"})

S = TypeVar("S", bound=RESTStorage, covariant=True)


class Served(Struct, Generic[S], frozen=True, eq=False, dict=True):
    """A resource or subresource in one version. `type` is the schema of what it takes and gives.

    There is one for each path: what is remembered by it is remembered once.
    """

    version: str
    subresource: str
    storage: S
    view: View
    types: Catalog
    clock: Clock

    @cached_property
    def verbs(self) -> frozenset[str]:
        """What it offers."""
        return verbs.offered(self.storage, is_subresource=bool(self.subresource))

    @cached_property
    def connects(self) -> bool:
        """Whether it leads on to somewhere else."""
        return verbs.connects(self.storage)

    @cached_property
    def frames(self) -> dict[tuple[Any, Any], Any]:
        """Of watches, by form and wire: a few dozen. They hold this object, so that nothing older keeps them."""
        return {}

    @cached_property
    def encoders(self) -> dict[Any, Any]:
        """Of stored objects, by form: a handful. They hold this object, as the frames do."""
        return {}

    @cached_property
    def type(self) -> ObjectType | CustomType:
        return _type_of(self.storage, self.version, self.types)

    @property
    def is_custom(self) -> bool:
        """Whether its objects are custom resources; their scales are not."""
        return self.kind.is_custom and self.view.object_kind.group == self.kind.group

    @property
    def kind(self) -> Kind:
        return self.storage.kind

    @property
    def resource(self) -> GroupResource:
        return self.storage.kind.resource

    @cached_property
    def allows(self) -> negotiation.Allows:
        """How its objects can be written: as tables where there is something to read again, in protobuf if they can."""
        has_tables = self.subresource in _WITH_TABLES and hasattr(self.storage, "get")
        allows = negotiation.allows_metadata_and_tables if has_tables else negotiation.allows_metadata
        if not self.kind.is_custom and protobuf.has_message(self.view.object_kind, self.types):
            return allows
        return lambda media_type, target: (
            allows(media_type, target) and (target is not None or media_type != negotiation.PROTOBUF)
        )

    @cached_property
    def columns(self) -> Columns:
        """How tables show its objects."""
        kind = self.view.object_kind
        own: Columns | None = getattr(self.storage, "columns", None)
        if own is not None:
            return own
        if kind.kind == self.kind.kind and self.kind.columns is not None:
            return self.kind.columns
        return columns_of(GroupKind(kind.group, kind.kind))

    @cached_property
    def column_definitions(self) -> Sequence[Object]:
        """The columns as tables carry them."""
        return self.columns.definitions(self.types.definitions)


Path = tuple[str, str, str]
"""A group, a version and a path (`pods`, `pods/status`)."""
Groups = Mapping[str, Mapping[str, Mapping[str, Served[Any]]]]
"""By group, version and path, each in the order of discovery."""


class ServedPaths:
    """Everything that is served. `generation` changes whenever something else is."""

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
    def fixed_groups(self) -> Groups:
        """What Kubernetes brings."""
        return _grouped(self._fixed)

    @property
    def told_groups(self) -> Groups:
        """All that is told: Kubernetes' own groups first. What clients add to one of those stands in it."""
        groups = dict(self.fixed_groups)
        for name, added in self.custom_groups.items():
            groups[name] = _joined(groups.get(name, {}), added)
        return groups

    @property
    def custom_groups(self) -> Groups:
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


def _grouped(paths: Mapping[Path, Served[Any]]) -> Groups:
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


def served_of(version: str, path: str, storage: RESTStorage, types: Catalog, clock: Clock) -> Served[RESTStorage]:
    """What is served at a path."""
    return Served(version, path.partition("/")[2], storage, _view(version, storage, types), types, clock)


def _type_of(storage: RESTStorage, version: str, types: Catalog) -> ObjectType | CustomType:
    kind = storage.object_kind(version)
    own = storage.kind.custom_type
    if own is not None and kind.group == storage.kind.group:
        return own
    return types.type_for(kind.group, kind.version, kind.kind)


def _view(version: str, storage: RESTStorage, types: Catalog) -> View:
    object_kind = storage.object_kind(version)

    def canonical(obj: Object) -> Object:
        return _type_of(storage, version, types).canonical(obj)

    def fill(obj: Object) -> None:
        _type_of(storage, version, types).apply_defaults(obj)

    if object_kind.kind != storage.kind.kind:
        return View(object_kind, canonical, fill=fill)
    kind = storage.kind
    return View(
        object_kind,
        canonical,
        kind.conversions.get(version),
        fill=fill,
        default=kind.strategy.default,
        list_name=kind.list_kind,
        is_custom=kind.is_custom,
    )
