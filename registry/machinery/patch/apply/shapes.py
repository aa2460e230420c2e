"""Shapes: types as maps, lists and scalars for server-side apply, SMD's schema, compiled once from schema nodes.

Arbitrary JSON may be a map, a list or a scalar; the value decides. An atomic map or list counts as one field.

Must hold: list types and map types of OpenAPI decide how a value is walked. Without them, the patch strategy decides.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cached_property
from operator import itemgetter
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.machinery.patch.apply import elements
from aio_apiserver.registry.machinery.schema import scalars
from aio_apiserver.registry.machinery.schema.model import MISSING, SchemaField, SchemaKind, SchemaNode, Structure


class Absent(Enum):
    """The type of ABSENT, which means no value; null is a value."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class ShapeError(Exception):
    """A list has elements without a key, or a value does not fit."""


class Scalar(Enum):
    """The types of scalars."""

    STRING = "string"
    NUMERIC = "numeric"
    BOOLEAN = "boolean"
    UNTYPED = "untyped"


class Maps:
    """A map: its named fields, and the shape of other members (None: no others are allowed)."""

    def __init__(self, fields: Callable[[], Mapping[str, "Shape"]], rest: "Shape | None", *, is_atomic: bool) -> None:
        self._compile = fields
        self.rest = rest
        self.is_atomic = is_atomic

    @cached_property
    def fields(self) -> Mapping[str, "Shape"]:
        return self._compile()

    @cached_property
    def of_scalars(self) -> "Scalar | None":
        """The scalar type of all members, when keys are data and values are scalars."""
        rest = self.rest
        if rest is None or rest.maps is not None or rest.lists is not None or self.fields:
            return None
        return rest.scalar

    def member(self, name: str) -> "Shape":
        """The shape of a member; of an unknown member, a shape for any value."""
        return self.fields.get(name) or self.rest or DEDUCED


class Lists:
    """A list. Elements are identified by their keys, or by their value when there are no keys."""

    def __init__(
        self, items: "Shape", *, is_atomic: bool, keys: tuple[str, ...] = (), defaults: Mapping[str, Any] | None = None
    ) -> None:
        self.items = items
        self.is_atomic = is_atomic
        self.keys = keys
        self._sorted_keys = tuple(sorted(keys))
        self._values_of = itemgetter(*self._sorted_keys) if len(keys) > 1 else None
        self._defaults = defaults or {}

    def element(self, value: Any) -> str:
        """The path element of a list element. Raises ShapeError."""
        return self._keyed(value) if self.keys else _valued(value)

    def _keyed(self, value: Any) -> str:
        if not isinstance(value, dict):
            what = "a null element" if value is None else "non-map elements"
            raise ShapeError(f"associative list with keys may not have {what}")
        try:
            values = (value[self.keys[0]],) if self._values_of is None else self._values_of(value)
            return elements.of_key_values(self._sorted_keys, values)
        except KeyError:
            return self._keyed_by_defaults(value)

    def _keyed_by_defaults(self, value: Mapping[str, Any]) -> str:
        found = {name: value[name] for name in self.keys if name in value}
        found = {name: self._defaults[name] for name in self.keys if name in self._defaults} | found
        if not found:
            names = " ".join(f'"{name}"' for name in self.keys)
            raise ShapeError(
                f"associative list with keys has an element that omits all key fields [{names}] "
                "(and doesn't have default values for any key fields)"
            )
        return elements.of_keys(found)


def _valued(value: Any) -> str:
    if isinstance(value, dict):
        raise ShapeError("associative list without keys has an element that's a map type")
    if isinstance(value, list):
        raise ShapeError("not supported: associative list with lists as elements")
    if value is None:
        raise ShapeError("associative list without keys has an element that's an explicit null")
    return elements.of_value(value)


Part = Maps | Lists | Scalar


class Shape(Struct, eq=False):
    """The parts that a value of this type may be."""

    maps: Maps | None = None
    lists: Lists | None = None
    scalar: Scalar | None = None

    def part(self, value: Any) -> Part:
        """The part for this value: the one of its JSON type, else the first that the type has."""
        if isinstance(value, dict):
            if self.maps is not None:
                return self.maps
        elif isinstance(value, list):
            if self.lists is not None:
                return self.lists
        elif self.scalar is not None and value is not None and value is not ABSENT:
            return self.scalar
        return self.maps or self.scalar or self.lists or Scalar.UNTYPED


UNTYPED = Shape(scalar=Scalar.UNTYPED)
UNTYPED.lists = Lists(UNTYPED, is_atomic=True)
UNTYPED.maps = Maps(dict, UNTYPED, is_atomic=True)
"""Arbitrary JSON that is atomic."""

DEDUCED = Shape(scalar=Scalar.UNTYPED, lists=UNTYPED.lists)
DEDUCED.maps = Maps(dict, DEDUCED, is_atomic=False)
"""Arbitrary JSON whose maps are walked."""

_SCALARS = {
    SchemaKind.INTEGER: Scalar.NUMERIC,
    SchemaKind.NUMBER: Scalar.NUMERIC,
    SchemaKind.BOOLEAN: Scalar.BOOLEAN,
    SchemaKind.BYTES: Scalar.STRING,
    SchemaKind.TIME: Scalar.UNTYPED,
    SchemaKind.MICRO_TIME: Scalar.UNTYPED,
    SchemaKind.QUANTITY: Scalar.UNTYPED,
}
_TEXT_FORMATS = frozenset({"", "byte"})
_FREE = frozenset({SchemaKind.INT_OR_STRING, SchemaKind.JSON, SchemaKind.ONE_OF})
_DEFAULT_KEYS = {"LocalObjectReference.name": ""}
"""Defaults of keys that are neither required nor defaulted by the schema."""


_TEXT = Shape(scalar=Scalar.STRING)


class Shapes:
    """Compiles shapes. Nodes that refer to the same struct in the same way share one.

    metadata: the shape of metadata in custom resources and in embedded resources.
    """

    def __init__(self, metadata: Shape = DEDUCED) -> None:
        self._metadata = metadata
        self._structures: dict[tuple[Structure, bool, bool], Maps] = {}

    def of_custom_resource(self, node: SchemaNode) -> Shape:
        """The shape of a custom resource with apiVersion, kind and metadata, which its schema may leave out."""
        maps = self.of(node).maps or DEDUCED.maps
        assert maps is not None
        rest = maps.rest if node.kind is SchemaKind.ANY or node.preserves_unknown_fields else None
        return Shape(maps=Maps(lambda: self._as_resource(maps.fields), rest, is_atomic=False))

    def _as_resource(self, fields: Mapping[str, Shape]) -> Mapping[str, Shape]:
        return {**fields, "apiVersion": _TEXT, "kind": _TEXT, "metadata": self._metadata}

    def of(self, node: SchemaNode, *, preserves: bool = False) -> Shape:
        """The shape of a node. `preserves`: a node above it preserves unknown fields."""
        preserves = preserves or node.preserves_unknown_fields
        if node.kind in _FREE:
            return DEDUCED
        match node.kind:
            case SchemaKind.ANY:
                # A Go type of arbitrary JSON is atomic; arbitrary JSON of a custom resource is not.
                return UNTYPED if node.go_type else DEDUCED
            case SchemaKind.OBJECT:
                return Shape(maps=self._object(node, preserves=preserves))
            case SchemaKind.MAP:
                assert node.items is not None
                items = self.of(node.items, preserves=preserves)
                return Shape(maps=Maps(dict, items, is_atomic=_is_atomic_map(node)))
            case SchemaKind.LIST:
                return Shape(lists=self._list(node, preserves=preserves))
            case SchemaKind.STRING:
                return Shape(scalar=Scalar.STRING if node.format in _TEXT_FORMATS else Scalar.UNTYPED)
        return Shape(scalar=_SCALARS[node.kind])

    def _object(self, node: SchemaNode, *, preserves: bool) -> Maps:
        structure = node.structure
        assert structure is not None
        is_atomic = _is_atomic_map(node)
        known = self._structures.get((structure, is_atomic, preserves))
        if known is None:

            def fields() -> Mapping[str, Shape]:
                own = {name: self.of(one.node, preserves=preserves) for name, one in structure.fields.items()}
                return self._as_resource(own) if node.is_embedded_resource else own

            rest = DEDUCED if preserves or not structure.fields else None
            known = Maps(fields, rest, is_atomic=is_atomic)
            self._structures[structure, is_atomic, preserves] = known
        return known

    def _list(self, node: SchemaNode, *, preserves: bool) -> Lists:
        assert node.items is not None
        items = self.of(node.items, preserves=preserves)
        keys = list_keys(node)
        if keys is None:
            return Lists(items, is_atomic=True)
        return Lists(items, is_atomic=False, keys=keys, defaults=key_defaults(node.items, keys))


def _is_atomic_map(node: SchemaNode) -> bool:
    return node.merge.map_type == "atomic"


def list_keys(node: SchemaNode) -> tuple[str, ...] | None:
    """The keys of the elements: none for a set; None for an atomic list."""
    merge = node.merge
    if merge.list_type:
        return {"map": merge.map_keys, "set": ()}.get(merge.list_type)
    if "merge" in merge.patch_strategies:
        return (merge.patch_merge_key,) if merge.patch_merge_key else ()
    return None


def key_defaults(items: SchemaNode, keys: tuple[str, ...]) -> Mapping[str, Any]:
    """The default values of keys that an element leaves out."""
    fields = items.structure.fields if items.structure is not None else {}
    defaults = {name: _key_default(fields[name]) for name in keys if name in fields}
    return {name: default for name, default in defaults.items() if default is not MISSING}


def _key_default(field: SchemaField) -> Any:
    if field.node.default is not MISSING:
        return field.node.default
    if field.is_required and field.is_printed:
        return scalars.ZEROS.get(field.node.kind, MISSING)
    return _DEFAULT_KEYS.get(f"{field.struct}.{field.name}", MISSING)
