"""Model: the schema tree, one model for built-in types and for schemas of custom resources.

A SchemaNode is a schema where it is used: the type of a value and how it merges. A Structure is an object with named
fields; nodes that refer to the same definition share it. Pure data: builtin.py and custom_types compile it; decoding,
printing, defaults, patches and OpenAPI read it.

Must hold: nodes do not change. The fields of a Structure are compiled at their first use, because types contain
themselves (JSONSchemaProps).
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum
from functools import cached_property
from typing import Any

from msgspec import Struct

Schema = Mapping[str, Any]


class SchemaKind(Enum):
    """The kinds of values."""

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
    """A base64 string."""
    TIME = "time"
    """RFC 3339 with seconds (metav1.Time)."""
    MICRO_TIME = "micro-time"
    """RFC 3339 with six digits of a second (metav1.MicroTime)."""
    QUANTITY = "quantity"
    INT_OR_STRING = "int-or-string"
    ANY = "any"
    """Arbitrary JSON, kept as sent."""
    JSON = "json"
    """Arbitrary JSON, printed with sorted keys."""
    ONE_OF = "one-of"
    """One of `alternatives`, chosen by the JSON type."""

    __hash__ = object.__hash__  # that of Enum is a call in Python, and kinds are looked up in tables


class _Missing(Enum):
    MISSING = "missing"


MISSING = _Missing.MISSING
"""Marks the absence of a default, since null may be a default."""


class Merge(Struct, frozen=True):
    """How two values merge. Empty where the schema does not say.

    list_type: atomic, set or map; in a map, `map_keys` identify an element. map_type: atomic or granular.
    patch_strategies and patch_merge_key: for strategic merge patches.
    """

    list_type: str = ""
    map_keys: tuple[str, ...] = ()
    map_type: str = ""
    patch_strategies: tuple[str, ...] = ()
    patch_merge_key: str = ""

    @classmethod
    def of(cls, schema: Schema) -> "Merge":
        """Read the x-kubernetes extensions of an OpenAPI schema."""
        strategies: str = schema.get("x-kubernetes-patch-strategy") or ""
        return cls(
            list_type=schema.get("x-kubernetes-list-type") or "",
            map_keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
            map_type=schema.get("x-kubernetes-map-type") or "",
            patch_strategies=tuple(strategies.split(",")) if strategies else (),
            patch_merge_key=schema.get("x-kubernetes-patch-merge-key") or "",
        )


NO_MERGE = Merge()


class SchemaNode(Struct, frozen=True, eq=False, kw_only=True):
    """A schema where it is used.

    format: from OpenAPI: int32, int64, double, byte, date-time, or any text in a custom resource.
    go_type: the type name in messages; empty for custom resources.
    items: the elements of a list, or the values of a map.
    schema: the OpenAPI schema from which the node was compiled, for validation and CEL.
    """

    kind: SchemaKind
    format: str = ""
    go_type: str = ""
    structure: "Structure | None" = None
    items: "SchemaNode | None" = None
    alternatives: "tuple[SchemaNode, ...]" = ()
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


class SchemaField(Struct, frozen=True, eq=False):
    """A named member of an object.

    is_pointer: a missing value differs from the zero value. is_printed: printed even when empty.
    keeps_empty: an empty list is printed as [] instead of null. keeps_sent_empty: an empty value of a client is kept.
    hides_zero: a struct that is left out when zero. struct: the Go name of the object.
    embedded_in: the embedded Go structs that contain the member.
    """

    name: str
    node: SchemaNode
    is_required: bool = False
    is_pointer: bool = False
    is_printed: bool = False
    keeps_empty: bool = False
    keeps_sent_empty: bool = False
    hides_zero: bool = False
    struct: str = ""
    embedded_in: tuple[str, ...] = ()


class Structure(Struct, frozen=True, eq=False, dict=True):
    """The fields of an object in the order in which they are printed. `name`: the definition, or empty."""

    name: str
    compile_fields: Callable[[], Mapping[str, SchemaField]]

    @cached_property
    def fields(self) -> Mapping[str, SchemaField]:
        return self.compile_fields()
