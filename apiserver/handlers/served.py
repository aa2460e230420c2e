"""Served: what is at a path of the APIs, found by group, version, resource and subresource.

Built once from the providers' storages; looked up for every request. Knows the registry's contracts, no verb.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from apiserver import negotiation
from apiserver.serializers import protobuf
from registry.kind import Kind
from registry.names import GroupKind, GroupResource
from registry.printing.columns import Columns
from registry.printing.printers import columns_of
from registry.rest import RESTStorage
from registry.schema import Catalog, ObjectType
from registry.view import View
from storage.clock import Clock
from storage.stored_object import Object

_WITH_TABLES = frozenset({"", "status", "scale"})

S = TypeVar("S", bound=RESTStorage, covariant=True)


@dataclass(frozen=True, eq=False)
class Served(Generic[S]):
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
    def type(self) -> ObjectType:
        kind = self.view.object_kind
        return self.types.type_for(kind.group, kind.version, kind.kind)

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
        if protobuf.has_message(self.view.object_kind, self.types):
            return allows
        return lambda media_type, target: (
            allows(media_type, target) and (target is not None or media_type != negotiation.PROTOBUF)
        )

    @cached_property
    def columns(self) -> Columns:
        """How tables show its objects."""
        kind = self.view.object_kind
        if kind.kind == self.kind.kind and self.kind.columns is not None:
            return self.kind.columns
        return columns_of(GroupKind(kind.group, kind.kind))

    @cached_property
    def column_definitions(self) -> Sequence[Object]:
        """The columns as tables carry them."""
        return self.columns.definitions(self.types.definitions)


ServedPaths = Mapping[tuple[str, str, str], Served[Any]]
"""By group, version and path (`pods`, `pods/status`)."""


def index(groups: Mapping[str, Mapping[str, Mapping[str, RESTStorage]]], types: Catalog, clock: Clock) -> ServedPaths:
    """Everything that is served, from the storages of each group by version and path."""
    return {
        (group, version, path): _served(version, path, storage, types, clock)
        for group, versions in groups.items()
        for version, paths in versions.items()
        for path, storage in paths.items()
    }


def _served(version: str, path: str, storage: RESTStorage, types: Catalog, clock: Clock) -> Served[RESTStorage]:
    return Served(version, path.partition("/")[2], storage, _view(version, storage, types), types, clock)


def _view(version: str, storage: RESTStorage, types: Catalog) -> View:
    object_kind = storage.object_kind(version)

    def canonical(obj: Object) -> Object:
        return types.type_for(object_kind.group, object_kind.version, object_kind.kind).canonical(obj)

    def fill(obj: Object) -> None:
        types.type_for(object_kind.group, object_kind.version, object_kind.kind).apply_defaults(obj)

    if object_kind.kind != storage.kind.kind:
        return View(object_kind, canonical, fill=fill)
    conversion = storage.kind.conversions.get(version)
    return View(object_kind, canonical, conversion, fill=fill, default=storage.kind.strategy.default)
