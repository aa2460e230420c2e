"""Served: a resource or subresource in one version, at one path of the API.

Handlers, discovery, OpenAPI and controllers know a resource by this. Knows the REST contracts and no API group; the
served paths are in controlplane/served_paths.py. Pure.
"""

from collections.abc import Collection, Hashable, Sequence
from functools import cache, cached_property, partial
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.generic import verbs
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import KindAcceptor, RESTStorage, TableConvertor
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.registry.machinery.printing.columns import Columns
from aio_apiserver.registry.machinery.schema import Catalog, ObjectType
from aio_apiserver.registry.machinery.serializers import protobuf
from aio_apiserver.registry.machinery.view import View

_WITH_TABLES = frozenset({"", "status", "scale"})

S = TypeVar("S", bound=RESTStorage, covariant=True)


class Served(Struct, Generic[S], frozen=True, eq=False, dict=True):
    """A resource or subresource in one version. There is one for each path.

    remembered: the handlers' cache of derived values; it goes when the path is no longer served.
    """

    version: str
    subresource: str
    storage: S
    view: View
    types: Catalog
    clock: Clock
    remembered: dict[Hashable, Any] = field(default_factory=dict)

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The verbs that it supports."""
        return verbs.offered(self.storage, is_subresource=bool(self.subresource))

    @cached_property
    def connects(self) -> bool:
        """Whether it opens connections to a kubelet, a pod or a service."""
        return verbs.connects(self.storage)

    @cached_property
    def type(self) -> ObjectType | CustomType:
        """The type of its objects."""
        return _type_of(self.storage, self.version, self.types)

    @cached_property
    def is_custom(self) -> bool:
        """Whether its objects are custom resources; their scales are not."""
        return self.kind.is_custom and self.view.object_kind.group == self.kind.group

    @cached_property
    def kind(self) -> Kind:
        return self.storage.kind

    @cached_property
    def deprecation(self) -> str:
        """The warning about its version; empty when it is not deprecated."""
        return self.kind.deprecation_of(self.version)

    @cached_property
    def removed_release(self) -> str:
        """The release that has its version no more; empty when none is known."""
        life = self.kind.deprecations.get(self.version)
        return "" if life is None else life.removed_release

    @cached_property
    def resource(self) -> GroupResource:
        return self.storage.kind.resource

    @cached_property
    def accepted_kinds(self) -> Collection[GroupVersionKind]:
        """The kinds that a body may state."""
        own = self.view.object_kind
        return {own, *self.storage.accepts} if isinstance(self.storage, KindAcceptor) else {own}

    @cached_property
    def has_tables(self) -> bool:
        """Whether its objects can be shown as tables: only objects that a client can read again."""
        return self.subresource in _WITH_TABLES and "get" in verbs.possible(self.storage)

    @cached_property
    def has_messages(self) -> bool:
        """Whether its objects can be written in protobuf."""
        return not self.kind.is_custom and protobuf.has_message(self.view.object_kind, self.types)

    @cached_property
    def formats(self) -> tuple[bool, bool, bool]:
        """All that the formats of its objects depend on."""
        return self.kind.is_custom, self.has_tables, self.has_messages

    @cached_property
    def columns(self) -> Columns:
        """The table columns of its storage, or else of its kind."""
        storage: object = self.storage
        return storage.columns if isinstance(storage, TableConvertor) else self.kind.columns

    @cached_property
    def column_definitions(self) -> Sequence[Object]:
        """The columns in a table's form."""
        return self.columns.definitions(self.types.definitions)


def served_of(version: str, path: str, storage: RESTStorage, types: Catalog, clock: Clock) -> Served[RESTStorage]:
    """The resource or subresource at a path."""
    return Served(version, path.partition("/")[2], storage, _view(version, storage, types), types, clock)


def _type_of(storage: RESTStorage, version: str, types: Catalog) -> ObjectType | CustomType:
    kind = storage.object_kind(version)
    own = storage.kind.custom_type
    if own is not None and kind.group == storage.kind.group:
        return own
    return types.type_for(kind.group, kind.version, kind.kind)


def _view(version: str, storage: RESTStorage, types: Catalog) -> View:
    object_kind = storage.object_kind(version)
    find_type = cache(partial(_type_of, storage, version, types))

    def canonical(obj: Object) -> Object:
        return find_type().canonical(obj)

    def fill(obj: Object) -> None:
        find_type().apply_defaults(obj)

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
