"""The schema tree: one model for Kubernetes' own types and for the schemas of custom resources.

A Node is a schema at its place of use: what a value must be, and how it merges. A Structure is an object with named
fields; nodes that refer to the same definition share it. Pure data; compiled by builtin.py and custom.py, read by
decoding, canonical output, defaults, merging, apply and OpenAPI.

Must hold: nodes never change; the fields of a Structure are compiled when they are first looked at, because types
contain themselves (JSONSchemaProps).
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum
from functools import cached_property
from typing import Any

from msgspec import Struct

Schema = Mapping[str, Any]


class Kind(Enum):
    """What a value is."""

    OBJECT = "object"
    """An object with named fields."""
    MAP = "map"
    """An object whose keys are data."""
    LIST = "list"
    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    BYTES = "bytes"
    """A string in base64."""
    TIME = "time"
    """RFC 3339, to the second."""
    MICRO_TIME = "micro-time"
    """RFC 3339 with exactly six digits of a second."""
    QUANTITY = "quantity"
    INT_OR_STRING = "int-or-string"
    ANY = "any"
    """Any JSON, kept as it came."""
    JSON = "json"
    """Any JSON, printed with sorted keys."""
    ONE_OF = "one-of"
    """One of `alternatives`, told apart by the type of the JSON."""


class _Missing(Enum):
    MISSING = "missing"


MISSING = _Missing.MISSING
"""Stands for no default, where null may be one."""


class Merge(Struct, frozen=True):
    """How two values become one. Empty where a schema does not say.

    list_type: atomic, set or map (then the values of `map_keys` name an element); map_type: atomic or granular.
    patch_strategies and patch_merge_key are those of strategic merge patches.
    """

    list_type: str = ""
    map_keys: tuple[str, ...] = ()
    map_type: str = ""
    patch_strategies: tuple[str, ...] = ()
    patch_merge_key: str = ""

    @classmethod
    def of(cls, schema: Schema) -> "Merge":
        """What the extensions of an OpenAPI schema say."""
        strategies: str = schema.get("x-kubernetes-patch-strategy") or ""
        return cls(
            list_type=schema.get("x-kubernetes-list-type") or "",
            map_keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
            map_type=schema.get("x-kubernetes-map-type") or "",
            patch_strategies=tuple(strategies.split(",")) if strategies else (),
            patch_merge_key=schema.get("x-kubernetes-patch-merge-key") or "",
        )


NO_MERGE = Merge()


class Node(Struct, frozen=True, eq=False, kw_only=True):
    """A schema where it is used.

    format: as OpenAPI has it (int32, int64, double, byte, date-time, or what a custom resource says).
    go_type: the type's name in messages; empty for custom resources.
    items: of a list, the elements; of a map, the values.
    schema: the OpenAPI schema that this was compiled from, for what concerns neither decoding nor merging.
    """

    kind: Kind
    format: str = ""
    go_type: str = ""
    structure: "Structure | None" = None
    items: "Node | None" = None
    alternatives: "tuple[Node, ...]" = ()
    merge: Merge = NO_MERGE
    default: Any = MISSING
    is_nullable: bool = False
    preserves_unknown_fields: bool = False
    is_embedded_resource: bool = False
    schema: Schema = field(default_factory=dict)

    @property
    def description(self) -> str:
        text: str = self.schema.get("description", "")
        return text

    @property
    def enum(self) -> tuple[Any, ...]:
        return tuple(self.schema.get("enum", ()))


class Field(Struct, frozen=True, eq=False):
    """A named member of an object.

    is_pointer: absence and the zero value are two things. is_printed: shown even when it is empty; keeps_empty: then an
    empty list is not null; hides_zero: left out when it is zero although it is a struct. struct: the Go name of the
    object; embedded_in: the structs of which the member is really a part.
    """

    name: str
    node: Node
    is_required: bool = False
    is_pointer: bool = False
    is_printed: bool = False
    keeps_empty: bool = False
    hides_zero: bool = False
    struct: str = ""
    embedded_in: tuple[str, ...] = ()


class Structure(Struct, frozen=True, eq=False, dict=True):
    """An object's fields, in the order in which they are printed. `name` is the definition's; empty if it has none."""

    name: str
    compile_fields: Callable[[], Mapping[str, Field]]

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        return self.compile_fields()
