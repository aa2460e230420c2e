"""Forms: how the objects of a resource look in one version, to whoever looks after their fields.

Must hold: objects that are given are left as they are; a type is compiled when its first object is written.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from registry import objects
from registry.empties import Empties, Empty, show
from registry.names import GroupVersionKind
from registry.patch.apply import checks, creation
from registry.patch.apply.fields import Fields
from registry.patch.apply.ownership import Versioned
from registry.patch.apply.shapes import Shape, ShapeError, Shapes
from registry.quoting import quote
from registry.schema import DecodeError, ObjectType
from registry.schema.custom_type import CustomType
from registry.schema.errors import Unconvertible
from registry.schema.model import Node
from registry.view import View, typed
from storage.stored_object import Object

_SHAPES = Shapes()

Type = ObjectType | CustomType


def kind_text(kind: GroupVersionKind) -> str:
    """A kind as messages of applies name it."""
    return f"{kind.group}/{kind.version}, Kind={kind.kind}"


class Form:
    """One version of a resource. `shape_of` compiles the shape of its type.

    refusal: why no object can be made of what is applied in this form; empty where it can. kube-apiserver cannot do so
    with the Scales of custom resources, and says it.
    """

    def __init__(
        self,
        view: View,
        find_type: Callable[[], Type],
        shape_of: Callable[[Node], Shape] = _SHAPES.of,
        *,
        refusal: str = "",
    ) -> None:
        self.view = view
        self.refusal = refusal
        self._find_type = find_type
        self._shape_of = shape_of

    @property
    def api_version(self) -> str:
        return self.view.object_kind.api_version

    @property
    def resets_only(self) -> str:
        """The one version in which writers of objects cannot set what they cannot set; empty for all."""
        return ""

    @cached_property
    def type(self) -> Type:
        return self._find_type()

    @cached_property
    def shape(self) -> Shape:
        return self._shape_of(self.type.node)

    def shown(self, hub: Object, empties: Empties = ()) -> Versioned:
        """A hub object as this version prints it, with what is empty in it and not nothing."""
        conversion = self.view.conversion
        value = self._printed(conversion.from_hub(objects.clone(hub)) if conversion else hub)
        if empties:
            show(value, empties)
        return self.versioned(value)

    def stored(self, hub: Object) -> Versioned:
        """A hub object as it was stored: that is how the hub's version prints it."""
        return self.versioned(self._typed(hub)) if self.view.conversion is None else self.shown(hub)

    def versioned(self, value: Object) -> Versioned:
        return Versioned(self.api_version, self.shape, value)

    def hub(self, value: Object, empties: list[Empty] | None = None) -> Object:
        """The hub object of one in this version, with its defaults; what is empty is noted.

        Raises DecodeError, or Unconvertible.
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
        """The same without defaults, for what only becomes another version. Raises DecodeError."""
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
        """From an object as this version prints it to all that it says beyond an object without content."""
        return creation.compiled(self.shape, self.nothing.value)

    def converted(self, one: Versioned, source: "Form") -> Versioned | None:
        """An object of another form in this one; None where it cannot be said. Raises ShapeError."""
        try:
            return self.shown(source.plain_hub(one.value))
        except DecodeError as exc:
            raise ShapeError(source.unfit(exc)) from exc

    def unfit(self, why: DecodeError) -> str:
        """Why a value is no object of this form."""
        return f"unable to convert unstructured object to {kind_text(self.view.object_kind)}: {why.message}"

    def read(self, value: Object) -> Versioned:
        """An object that somebody has put into this version. Raises ShapeError for what it has no words for."""
        return self.versioned(value)

    def refuse(self, api_version: str) -> None:
        """What there is to say of a version to which nothing converts: it may be gone. Raises ShapeError where not."""

    def _printed(self, value: Object) -> Object:
        """An object in its canonical form."""
        printed = self.view.canonical(value)
        printed.pop("kind", None)
        printed.pop("apiVersion", None)
        return self._typed(printed)

    def _typed(self, value: Object) -> Object:
        """An object with its type, without what is known of its owners; the given one is left as it is."""
        whole = typed(self.view.object_kind, value)
        if "managedFields" in value["metadata"]:
            whole["metadata"] = {name: one for name, one in value["metadata"].items() if name != "managedFields"}
        return whole


class CustomForm(Form):
    """One version of a custom resource. Versions differ in nothing but their schemas, unless somebody else converts.

    An object that a version has no words for cannot be shown in it.
    """

    def __init__(self, view: View, own: CustomType, metadata: Shape) -> None:
        super().__init__(view, lambda: own, lambda node: Shapes(metadata).of_custom_resource(node))

    @property
    def resets_only(self) -> str:
        """Custom resources say only of the version of a write what it cannot set, if it is of no subresource."""
        return self.api_version

    def converted(self, one: Versioned, source: Form) -> Versioned:
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


Forms = Mapping[str, Form]
"""By apiVersion."""


class Conversions:
    """What one write converts: each object to each version once, however many owners have fields in that version."""

    def __init__(self, forms: Forms) -> None:
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
