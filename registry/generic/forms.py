"""Forms: the versions in which admission may see the objects of a write, of this group or of another one.

Rules of webhooks and policies name versions, and the objects are shown in the named version. Knows neither. Must hold:
shown objects are typed and canonical. The given hub object is not changed.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.machinery.schema import Catalog, ObjectType, depth
from aio_apiserver.registry.machinery.view import View, typed


class BuiltinForm(Struct, frozen=True, dict=True):
    """A version of a built-in kind."""

    resource: GroupResource
    version: str
    view: View
    find_type: Callable[[], ObjectType]

    @property
    def kind(self) -> GroupVersionKind:
        return self.view.object_kind

    def has(self, subresource: str) -> bool:
        """All versions have the same subresources."""
        return True

    async def versioned(self, hub: Object) -> Object:
        return self._versioned(hub)

    def parsed(self, value: Object) -> Object:
        depth.check(value)
        return self._typed(self._type.decode(value).obj)

    def defaulted(self, obj: Object) -> Object:
        return self._versioned(self.view.to_hub(objects.clone(obj)))

    async def hub(self, obj: Object) -> Object:
        return self.view.to_hub(self._type.decode(objects.clone(obj)).obj)

    @cached_property
    def _type(self) -> ObjectType:
        """The type, compiled with the first write."""
        return self.find_type()

    def _versioned(self, hub: Object) -> Object:
        conversion = self.view.conversion
        return self._typed(conversion.from_hub(objects.clone(hub)) if conversion else hub)

    def _typed(self, obj: Object) -> Object:
        printed = self._type.canonical(obj)
        return typed(self.kind, {name: part for name, part in printed.items() if name not in _TYPE})


class OptionsForm(Struct, frozen=True):
    """The options of a connection, which have no schema: unchanged, without empty values."""

    resource: GroupResource
    version: str
    kind: GroupVersionKind

    def has(self, subresource: str) -> bool:
        """They belong to a subresource."""
        return True

    async def versioned(self, hub: Object) -> Object:
        return self.defaulted(hub)

    def parsed(self, value: Object) -> Object:
        depth.check(value)
        return self.defaulted(value)

    def defaulted(self, obj: Object) -> Object:
        always = dict.fromkeys(_NEVER_LEFT_OUT.get(self.kind.kind, ()))
        nonempty = {name: value for name, value in obj.items() if value}
        return typed(self.kind, {**always, **nonempty})

    async def hub(self, obj: Object) -> Object:
        return {name: value for name, value in obj.items() if name not in _TYPE}


_TYPE = frozenset({"kind", "apiVersion"})
_OPTIONS = frozenset(
    {
        "NodeProxyOptions",
        "PodAttachOptions",
        "PodExecOptions",
        "PodPortForwardOptions",
        "PodProxyOptions",
        "ServiceProxyOptions",
    }
)
_NEVER_LEFT_OUT = {"PodExecOptions": ("command",)}


def forms_of(kind: Kind, types: Catalog, also: Sequence[Kind] = ()) -> Sequence[AdmissionForm]:
    """All forms of the objects of a built-in kind. Kinds in `also` show the same objects."""
    stored = (kind.stored_as,) if kind.stored_as is not None else ()
    return [_of_version(one, version, types) for one in (*stored, kind, *also) for version in one.versions]


def _of_version(kind: Kind, version: str, types: Catalog) -> AdmissionForm:
    plain = _plain(kind.resource, version, kind.object_kind(version), types)
    assert isinstance(plain, BuiltinForm)
    view = replace(plain.view, conversion=kind.conversions.get(version), default=kind.strategy.default)
    return replace(plain, view=view)


@lru_cache(maxsize=1024)
def _plain(resource: GroupResource, version: str, kind: GroupVersionKind, types: Catalog) -> BuiltinForm | OptionsForm:
    """The form of a kind that is the same for all resources: a Scale, a Binding, the options of a connection."""
    if kind.kind in _OPTIONS:
        return OptionsForm(resource, version, kind)

    def find_type() -> ObjectType:
        return types.type_for(kind.group, kind.version, kind.kind)

    view = View(kind, lambda obj: find_type().canonical(obj), fill=lambda obj: find_type().apply_defaults(obj))
    return BuiltinForm(resource, version, view, find_type)


def present(
    resource: GroupResource,
    version: str,
    kind: GroupVersionKind,
    *,
    subresource: str,
    forms: Sequence[AdmissionForm],
    types: Catalog,
) -> Sequence[AdmissionForm]:
    """The forms of a write, its own first. `forms` are those of the resource in the URL."""
    having = [form for form in forms if form.has(subresource)]
    if not any(form.kind == kind for form in having):
        others = [
            (form.resource, form.version) for form in having if (form.resource, form.version) != (resource, version)
        ]
        return [_plain(one, of_version, kind, types) for one, of_version in [(resource, version), *others]]
    return sorted(having, key=lambda form: (form.resource, form.version) != (resource, version))
