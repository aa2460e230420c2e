"""Type converters: hub objects as typed values of one version and back, upstream's TypeConverter, for field managers.

Must hold: the given objects are not changed. A type is compiled at its first use.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.empties import Empties, Empty, show
from aio_apiserver.registry.base.golang.decode_errors import Unconvertible
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.registry.machinery.patch.apply import checks, creation
from aio_apiserver.registry.machinery.patch.apply.fields import Fields
from aio_apiserver.registry.machinery.patch.apply.ownership import Versioned
from aio_apiserver.registry.machinery.patch.apply.shapes import Shape, ShapeError, Shapes
from aio_apiserver.registry.machinery.patch.apply.unowned import UNOWNED
from aio_apiserver.registry.machinery.schema import DecodeError, ObjectType
from aio_apiserver.registry.machinery.schema.model import SchemaNode
from aio_apiserver.registry.machinery.view import View, typed

_SHAPES = Shapes()

Type = ObjectType | CustomType


def kind_text(kind: GroupVersionKind) -> str:
    """A kind as messages about applies name it."""
    return f"{kind.group}/{kind.version}, Kind={kind.kind}"


class TypeConverter:
    """One version of a resource. `shape_of` compiles the shape of its type.

    refusal: the reason why an apply in this version fails; empty for most. kube-apiserver refuses to apply Scales of
    custom resources.
    """

    def __init__(
        self,
        view: View,
        find_type: Callable[[], Type],
        shape_of: Callable[[SchemaNode], Shape] = _SHAPES.of,
        *,
        refusal: str = "",
    ) -> None:
        self.view = view
        self.api_version = view.object_kind.api_version
        self._type = typed(view.object_kind, {})
        self.refusal = refusal
        self._find_type = find_type
        self._shape_of = shape_of

    @property
    def resets_only(self) -> str:
        """The one version in which reset fields count; empty when they count in all versions."""
        return ""

    @cached_property
    def type(self) -> Type:
        return self._find_type()

    @cached_property
    def shape(self) -> Shape:
        return self._shape_of(self.type.node)

    def printed(self, hub: Object, empties: Empties = ()) -> Versioned:
        """A hub object as this version prints it, with `[]` and `{}` for empty values."""
        return self.versioned(self.printed_value(hub, empties))

    def printed_value(self, hub: Object, empties: Empties = ()) -> Object:
        """The same without its version."""
        conversion = self.view.conversion
        value = self._printed(conversion.from_hub(objects.clone(hub)) if conversion else hub)
        if empties:
            show(value, empties)
        return value

    def stored(self, hub: Object) -> Versioned:
        """A stored hub object. The storage version prints it without conversion."""
        return self.versioned(self._typed(hub)) if self.view.conversion is None else self.printed(hub)

    def versioned(self, value: Object) -> Versioned:
        return Versioned(self.api_version, self.shape, value)

    def hub(self, value: Object, empties: list[Empty] | None = None) -> Object:
        """The hub object of a value in this version, with defaults. Fills `empties` with the empty values.

        Raises DecodeError and Unconvertible.
        """
        decoded = self.type.convert(objects.clone(value))
        decoded.obj.setdefault("metadata", {})
        if empties is not None:
            empties[:] = decoded.empties
        try:
            return self.view.to_hub(decoded.obj)
        except DecodeError as exc:
            raise Unconvertible(exc.message) from exc

    def plain_hub(self, value: Object) -> Object:
        """The hub object without defaults, on the way to another version. Raises DecodeError."""
        obj = self.type.convert(objects.clone(value)).obj
        obj.setdefault("metadata", {})
        for name in ("kind", "apiVersion"):
            obj.pop(name, None)
        conversion = self.view.conversion
        return conversion.to_hub(obj) if conversion else obj

    @cached_property
    def nothing(self) -> Versioned:
        """The object without content."""
        return self.versioned(self._printed({"metadata": {}}))

    @cached_property
    def created_fields(self) -> Callable[[Mapping[str, Any]], Fields]:
        """A function from a printed object to the fields that its creator owns beyond the object without content."""
        return creation.compiled(self.shape, self.nothing.value, without=UNOWNED)

    def converted(self, one: Versioned, source: "TypeConverter") -> Versioned | None:
        """A value of another version in this one; None when it cannot be converted. Raises ShapeError."""
        try:
            return self.printed(source.plain_hub(one.value))
        except DecodeError as exc:
            raise ShapeError(source.unfit(exc)) from exc

    def unfit(self, why: DecodeError) -> str:
        """The message for a value that is no object of this version."""
        return f"unable to convert unstructured object to {kind_text(self.view.object_kind)}: {why.message}"

    def read(self, value: Object) -> Versioned:
        """A value that the webhook has converted to this version. Raises ShapeError when it does not fit the schema."""
        return self.versioned(value)

    def refuse(self, api_version: str) -> None:
        """The answer to a version without conversion. Raises ShapeError; a built-in version may be gone and raises
        none.
        """

    def _printed(self, value: Object) -> Object:
        """An object in canonical form."""
        printed = self.view.canonical(value)
        printed.pop("kind", None)
        printed.pop("apiVersion", None)
        return self._typed(printed)

    def _typed(self, value: Object) -> Object:
        """A copy with kind and apiVersion and without managedFields."""
        whole = {**self._type, **value}
        if "managedFields" in value["metadata"]:
            whole["metadata"] = {name: one for name, one in value["metadata"].items() if name != "managedFields"}
        return whole


class CustomTypeConverter(TypeConverter):
    """One version of a custom resource. Without webhook, conversion changes the apiVersion alone.

    A value that does not fit the version's schema cannot be converted to it.
    """

    def __init__(self, view: View, own: CustomType, metadata: Shape) -> None:
        super().__init__(view, lambda: own, lambda node: Shapes(metadata).of_custom_resource(node))

    @property
    def resets_only(self) -> str:
        """On the main resource, the reset fields of custom resources count in the version of the write alone."""
        return self.api_version

    def converted(self, one: Versioned, source: TypeConverter) -> Versioned:
        return self.read({**one.value, **typed(self.view.object_kind, {})})

    def read(self, value: Object) -> Versioned:
        if found := checks.misfits(self.shape, value):
            raise ShapeError(checks.summary(found))
        return self.versioned(value)

    def refuse(self, api_version: str) -> None:
        if api_version.rpartition("/")[0] == self.view.object_kind.group:
            raise ShapeError(f"request to convert CR to an invalid group/version: {api_version}")
        kind = f"{self.api_version}, Kind={self.view.object_kind.kind}"
        raise ShapeError(f"{kind} is unstructured and is not suitable for converting to {quote(api_version)}")


TypeConverters = Mapping[str, TypeConverter]
"""By apiVersion."""


class Conversions:
    """What one write converts: each object to each version once, however many owners have fields in that version."""

    def __init__(self, forms: TypeConverters) -> None:
        self._forms = forms
        self._done: dict[tuple[int, str], tuple[Versioned, Versioned | None]] = {}
        """By the identity of an object, which is kept along so that no other one takes it."""

    def __call__(self, one: Versioned, api_version: str) -> Versioned | None:
        """An object in another version; None for a version that is not served. Raises ShapeError."""
        if one.api_version == api_version:
            return one
        key = id(one), api_version
        if key not in self._done:
            self._done[key] = one, self._converted(one, api_version)
        return self._done[key][1]

    def _converted(self, one: Versioned, api_version: str) -> Versioned | None:
        form = self._forms.get(api_version)
        if form is None:
            self._forms[one.api_version].refuse(api_version)
            return None
        return form.converted(one, self._forms[one.api_version])
