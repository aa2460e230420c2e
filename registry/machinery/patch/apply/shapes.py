"""Shapes: how the values of a type are taken apart for merging and owning, compiled once from its schema nodes.

A type may be a scalar, a map and a list at once (free JSON): which of them counts is said by the value. What is atomic
is never taken apart. Must hold: what OpenAPI says with list types, map types or (where it says nothing) patch
strategies, says the same to everybody who walks a value.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cached_property
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.machinery.patch.apply import elements
from aio_apiserver.registry.machinery.schema import leaves
from aio_apiserver.registry.machinery.schema.model import MISSING, Field, Kind, Node, Structure


class Absent(Enum):
    """Stands for a value that is not there, where null may be one."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class ShapeError(Exception):
    """A list whose elements cannot be told apart."""


class Scalar(Enum):
    """What a scalar must be."""

    STRING = "string"
    NUMERIC = "numeric"
    BOOLEAN = "boolean"
    UNTYPED = "untyped"


class Maps:
    """A map: its named fields, and what other keys hold (None: there are no others)."""

    def __init__(self, fields: Callable[[], Mapping[str, "Shape"]], rest: "Shape | None", *, is_atomic: bool) -> None:
        self._compile = fields
        self.rest = rest
        self.is_atomic = is_atomic

    @cached_property
    def fields(self) -> Mapping[str, "Shape"]:
        return self._compile()

    @cached_property
    def of_scalars(self) -> "Scalar | None":
        """What all members are, where keys are data and values are scalars: such maps may be long."""
        rest = self.rest
        if rest is None or rest.maps is not None or rest.lists is not None or self.fields:
            return None
        return rest.scalar

    def member(self, name: str) -> "Shape":
        """The shape of a member; of one that nobody knows, whatever its value is."""
        return self.fields.get(name) or self.rest or DEDUCED


class Lists:
    """A list. Elements are told apart by the values of their keys, or (without keys) by their own."""

    def __init__(
        self, items: "Shape", *, is_atomic: bool, keys: tuple[str, ...] = (), defaults: Mapping[str, Any] | None = None
    ) -> None:
        self.items = items
        self.is_atomic = is_atomic
        self.keys = keys
        self._sorted_keys = tuple(sorted(keys))
        self._defaults = defaults or {}

    def element(self, value: Any) -> str:
        """The path element of an element. Raises ShapeError."""
        return self._keyed(value) if self.keys else _valued(value)

    def _keyed(self, value: Any) -> str:
        if not isinstance(value, dict):
            what = "a null element" if value is None else "non-map elements"
            raise ShapeError(f"associative list with keys may not have {what}")
        try:
            return elements.of_key_values(self._sorted_keys, tuple([value[name] for name in self._sorted_keys]))
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
    """What a value of a type may be."""

    maps: Maps | None = None
    lists: Lists | None = None
    scalar: Scalar | None = None

    def part(self, value: Any) -> Part:
        """What a value is taken for: what it is if it may be that, else the first thing that it should be."""
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
"""Free JSON that is one thing."""

DEDUCED = Shape(scalar=Scalar.UNTYPED, lists=UNTYPED.lists)
DEDUCED.maps = Maps(dict, DEDUCED, is_atomic=False)
"""Free JSON whose maps are taken apart."""

_SCALARS = {
    Kind.INTEGER: Scalar.NUMERIC,
    Kind.NUMBER: Scalar.NUMERIC,
    Kind.BOOLEAN: Scalar.BOOLEAN,
    Kind.BYTES: Scalar.STRING,
    Kind.TIME: Scalar.UNTYPED,
    Kind.MICRO_TIME: Scalar.UNTYPED,
    Kind.QUANTITY: Scalar.UNTYPED,
}
_TEXT_FORMATS = frozenset({"", "byte"})
_FREE = frozenset({Kind.INT_OR_STRING, Kind.JSON, Kind.ONE_OF})
_DEFAULT_KEYS = {"LocalObjectReference.name": ""}
"""Defaults of keys that neither are required nor filled in."""


_TEXT = Shape(scalar=Scalar.STRING)


class Shapes:
    """Compiles shapes; those of a structure are shared by all nodes that refer to it in the same way.

    metadata: that of custom resources, and of resources within them.
    """

    def __init__(self, metadata: Shape = DEDUCED) -> None:
        self._metadata = metadata
        self._structures: dict[tuple[Structure, bool, bool], Maps] = {}

    def of_custom_resource(self, node: Node) -> Shape:
        """The shape of a custom resource, whose schema need not say what all objects have."""
        maps = self.of(node).maps or DEDUCED.maps
        assert maps is not None
        rest = maps.rest if node.kind is Kind.ANY or node.preserves_unknown_fields else None
        return Shape(maps=Maps(lambda: self._as_resource(maps.fields), rest, is_atomic=False))

    def _as_resource(self, fields: Mapping[str, Shape]) -> Mapping[str, Shape]:
        return {**fields, "apiVersion": _TEXT, "kind": _TEXT, "metadata": self._metadata}

    def of(self, node: Node, *, preserves: bool = False) -> Shape:
        """The shape of a node. `preserves`: something around it keeps fields that nobody knows."""
        preserves = preserves or node.preserves_unknown_fields
        if node.kind in _FREE:
            return DEDUCED
        match node.kind:
            case Kind.ANY:
                # A Go type of free JSON is opaque; a custom resource's free JSON is not.
                return UNTYPED if node.go_type else DEDUCED
            case Kind.OBJECT:
                return Shape(maps=self._object(node, preserves=preserves))
            case Kind.MAP:
                assert node.items is not None
                items = self.of(node.items, preserves=preserves)
                return Shape(maps=Maps(dict, items, is_atomic=_is_atomic_map(node)))
            case Kind.LIST:
                return Shape(lists=self._list(node, preserves=preserves))
            case Kind.STRING:
                return Shape(scalar=Scalar.STRING if node.format in _TEXT_FORMATS else Scalar.UNTYPED)
        return Shape(scalar=_SCALARS[node.kind])

    def _object(self, node: Node, *, preserves: bool) -> Maps:
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

    def _list(self, node: Node, *, preserves: bool) -> Lists:
        assert node.items is not None
        items = self.of(node.items, preserves=preserves)
        keys = list_keys(node)
        if keys is None:
            return Lists(items, is_atomic=True)
        return Lists(items, is_atomic=False, keys=keys, defaults=key_defaults(node.items, keys))


def _is_atomic_map(node: Node) -> bool:
    return node.merge.map_type == "atomic"


def list_keys(node: Node) -> tuple[str, ...] | None:
    """The keys of a list's elements: none for a set; None for a list that is one thing."""
    merge = node.merge
    if merge.list_type:
        return {"map": merge.map_keys, "set": ()}.get(merge.list_type)
    if "merge" in merge.patch_strategies:
        return (merge.patch_merge_key,) if merge.patch_merge_key else ()
    return None


def key_defaults(items: Node, keys: tuple[str, ...]) -> Mapping[str, Any]:
    """The values that keys have where an element does not say them."""
    fields = items.structure.fields if items.structure is not None else {}
    defaults = {name: _key_default(fields[name]) for name in keys if name in fields}
    return {name: default for name, default in defaults.items() if default is not MISSING}


def _key_default(field: Field) -> Any:
    if field.node.default is not MISSING:
        return field.node.default
    if field.is_required and field.is_printed:
        return leaves.ZEROS.get(field.node.kind, MISSING)
    return _DEFAULT_KEYS.get(f"{field.struct}.{field.name}", MISSING)
