"""field_managers: the field managers of one resource for server-side apply, by version and subresource.

Must hold: there is one for each path. No type is compiled before its first object is written.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.base.text_caches import remember_short
from aio_apiserver.registry.generic import rest
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.registry.machinery.patch.apply import elements
from aio_apiserver.registry.machinery.patch.apply.elements import Path
from aio_apiserver.registry.machinery.patch.apply.manager import Ask, FieldManager
from aio_apiserver.registry.machinery.patch.apply.resets import resets
from aio_apiserver.registry.machinery.patch.apply.scale import Paths
from aio_apiserver.registry.machinery.patch.apply.shapes import Shapes
from aio_apiserver.registry.machinery.patch.apply.type_converters import (
    CustomTypeConverter,
    TypeConverter,
    TypeConverters,
)
from aio_apiserver.registry.machinery.schema import Catalog, ObjectType
from aio_apiserver.registry.machinery.view import View

SCALE = GroupVersionKind("autoscaling", "v1", "Scale")

_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_MAX_MANAGER_BYTES = 128
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
"""The bytes of a header that are no UTF-8, as aiohttp hands them over."""
_UNCONVERTIBLE = f"request to convert CR to an invalid group/version: {SCALE.api_version}"


@remember_short(1024)
def manager_of(user_agent: str) -> str:
    """The field manager's name from a User-Agent: the text before the first slash."""
    name = ""
    size = 0
    for char in filter(str.isprintable, _NOT_UTF8.sub("\ufffd", user_agent.partition("/")[0])):
        size += len(char.encode(errors="replace"))
        if size > _MAX_MANAGER_BYTES:
            break
        name += char
    return name


@lru_cache(maxsize=16)
def _second(when: int) -> str:
    """A time as text; cached, because many writes happen in the same second."""
    return rest.timestamp(when)


class FieldManagers:
    """The field managers of a resource. `forms` are its served versions; `replicas` the replicas' paths for Scale.

    ask: calls the conversion webhook; None where the server converts between the versions.
    """

    def __init__(
        self,
        kind: Kind,
        forms: TypeConverters,
        scale: TypeConverter,
        clock: Clock,
        *,
        replicas: Paths,
        ask: Ask | None = None,
    ) -> None:
        self.replicas = replicas
        self._ask = ask
        self._kind = kind
        self._forms = forms
        self._scale = scale
        self._clock = clock
        self._managers: dict[tuple[str, str], FieldManager] = {}

    def of(self, version: str, subresource: str = "") -> FieldManager:
        """The field manager of a path."""
        manager = self._managers.get((version, subresource))
        if manager is None:
            manager = self._managers[version, subresource] = self._new_manager(version, subresource)
        return manager

    def of_scale(self) -> FieldManager:
        """The field manager of the objects' Scales."""
        return FieldManager(self._scale, {self._scale.api_version: self._scale}, self._now, "scale")

    def _new_manager(self, version: str, subresource: str) -> FieldManager:
        kind = self._kind
        reset = resets(subresource, has_status=kind.strategy.has_status, is_custom=kind.is_custom, own=kind.resets)
        form = self._forms[kind.api_version(version)]
        return FieldManager(form, self._forms, self._now, subresource, reset, self._ask)

    def _now(self) -> str:
        return _second(int(self._clock.now()))


def field_managers(kind: Kind, types: Catalog, clock: Clock) -> FieldManagers:
    """The field managers of a built-in kind.

    An object that is served in two groups has field managers for each: a write in one group drops the managers of the
    other group.
    """
    forms = {kind.api_version(version): _form(kind, version, types) for version in kind.versions}
    replicas = dict.fromkeys(forms, replicas_path(kind.scale.spec_replicas if kind.scale is not None else ""))
    return FieldManagers(kind, forms, _scale_form(types), clock, replicas=replicas)


def custom_field_managers(
    kind: Kind,
    of_version: Mapping[str, CustomType],
    types: Catalog,
    clock: Clock,
    *,
    replicas: Paths,
    ask: Ask | None = None,
) -> FieldManagers:
    """The field managers of a custom resource; `ask` calls its conversion webhook, if it has one."""
    metadata = Shapes().of(types.node(_METADATA))
    forms = {
        kind.api_version(version): CustomTypeConverter(_custom_view(kind, version, own), own, metadata)
        for version, own in of_version.items()
    }
    return FieldManagers(kind, forms, _scale_form(types, _UNCONVERTIBLE), clock, replicas=replicas, ask=ask)


def replicas_path(dotted: str) -> Path | None:
    """The field path of a dotted one; None for an empty text."""
    return tuple(map(elements.field, dotted.split("."))) if dotted else None


def _form(kind: Kind, version: str, types: Catalog) -> TypeConverter:
    object_kind = kind.object_kind(version)
    find_type = _finder(object_kind, types)

    def canonical(obj: Object) -> Object:
        return find_type().canonical(obj)

    def fill(obj: Object) -> None:
        find_type().apply_defaults(obj)

    view = View(object_kind, canonical, kind.conversions.get(version), fill=fill, default=kind.strategy.default)
    return TypeConverter(view, find_type)


def _custom_view(kind: Kind, version: str, own: CustomType) -> View:
    object_kind = kind.object_kind(version)
    return View(object_kind, own.canonical, fill=own.apply_defaults, default=kind.strategy.default)


def _scale_form(types: Catalog, refusal: str = "") -> TypeConverter:
    """The type converter of Scales."""
    find_type = _finder(SCALE, types)
    return TypeConverter(View(SCALE, lambda obj: find_type().canonical(obj)), find_type, refusal=refusal)


def _finder(kind: GroupVersionKind, types: Catalog) -> Callable[[], ObjectType]:
    return cache(partial(types.type_for, kind.group, kind.version, kind.kind))
