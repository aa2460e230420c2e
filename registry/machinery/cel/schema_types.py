"""Schema types: the CEL types and maximal sizes of values, from an OpenAPI schema.

Pure. Must hold: the sizes are kube-apiserver's. Expressions cannot access fields that the schema does not describe.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from aio_apiserver.registry.machinery.cel import names, types
from aio_apiserver.registry.machinery.cel.estimates import ITEMS, KEYS, VALUES, Path
from aio_apiserver.registry.machinery.cel.sizes import EstimateRange
from aio_apiserver.registry.machinery.cel.types import Type

Schema = Mapping[str, Any]

_REQUEST_BYTES = 3 * 1024 * 1024
_LONGEST_TEXT = _REQUEST_BYTES - 2
_TIME_LENGTH, _DATE_LENGTH = 32, 12
_BYTES_A_CHARACTER = 4


class Declared(Struct, frozen=True):
    """A type with its parts. `largest`: elements or bytes at most. `smallest`: bytes of the shortest JSON."""

    type: Type
    smallest: int
    largest: int = 0
    fields: Mapping[str, "Declared"] = field(default_factory=dict)
    element: "Declared | None" = None
    key: "Declared | None" = None

    def objects(self) -> dict[str, dict[str, Type]]:
        """The fields of all object types, by the name of the type."""
        found = {self.type.name: {name: part.type for name, part in self.fields.items()}} if self._is_object else {}
        for part in (*self.fields.values(), *filter(None, (self.element, self.key))):
            found |= part.objects()
        return found

    def named(self, name: str) -> "Declared":
        """The same type with another name for its objects, and for the objects inside of them."""
        fields = {step: part.named(f"{name}.{step}") for step, part in self.fields.items()}
        if self._is_object:
            return replace(self, type=types.object_named(name), fields=fields)
        if self.element is None:
            return self
        if self.key is not None:
            element = self.element.named(f"{name}.@elem")
            return replace(self, type=types.map_of(types.STRING, element.type), element=element)
        element = self.element.named(f"{name}.@idx")
        return replace(self, type=types.list_of(element.type), element=element)

    @property
    def _is_object(self) -> bool:
        return self.type.kind is types.TypeKind.OBJECT

    def part(self, step: str) -> "Declared | None":
        """The part one step further on a path."""
        if step in (ITEMS, VALUES):
            return self.element
        return self.key if step == KEYS else self.fields.get(step)

    def size_at(self, path: Path) -> EstimateRange | None:
        """The possible sizes of the value at a path."""
        here: Declared | None = self
        for step in path:
            if here is None:
                return None
            here = here.part(step)
        return EstimateRange(0, here.largest) if here is not None else None


_STRING = Declared(types.STRING, 2)
_TYPE_META = {"kind": {"type": "string"}, "apiVersion": {"type": "string"}}
_OBJECT_META = {"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}}


def with_type_and_metadata(schema: Schema) -> Schema:
    """The schema of a resource with apiVersion, kind and metadata. A schema that describes them all stays as it is."""
    if _has_type_and_metadata(schema.get("properties") or {}):
        return schema
    properties = {**(schema.get("properties") or {}), **_TYPE_META, "metadata": _OBJECT_META}
    return {**schema, "properties": properties}


def _has_type_and_metadata(properties: Mapping[str, Schema]) -> bool:
    metadata = properties.get("metadata", {})
    names_of_object = metadata.get("properties") or {}
    return metadata.get("type") == "object" and all(
        (known.get(name) or {}).get("type") == "string"
        for known, wanted in ((properties, _TYPE_META), (names_of_object, ("name", "generateName")))
        for name in wanted
    )


def declared(schema: Schema, *, name: str = "object", is_resource: bool = False) -> Declared | None:
    """The type for a schema; None when expressions cannot access such values."""
    if schema.get("x-kubernetes-int-or-string"):
        length = schema.get("maxLength")
        return Declared(types.DYN, 1, _LONGEST_TEXT if length is None else _bytes_of(length))
    if is_resource:
        schema = with_type_and_metadata(schema)
    match schema.get("type"):
        case "array":
            return _list(schema, name)
        case "object":
            others = schema.get("additionalProperties")
            return _map(schema, others, name) if isinstance(others, Mapping) else _object(schema, name)
        case "string":
            return _text(schema)
        case "boolean":
            return Declared(types.BOOL, 4)
        case "number":
            return Declared(types.DOUBLE, 1)
        case "integer":
            return Declared(types.INT, 1)
    return None


def _below(schema: Schema, name: str) -> Declared | None:
    return declared(schema, name=name, is_resource=bool(schema.get("x-kubernetes-embedded-resource")))


def _list(schema: Schema, name: str) -> Declared | None:
    items = schema.get("items")
    element = _below(items, f"{name}.@idx") if isinstance(items, Mapping) else None
    if element is None:
        return None
    most = schema.get("maxItems")
    largest = (_REQUEST_BYTES - 2) // (element.smallest + 1) if most is None else max(most, 0)
    return Declared(types.list_of(element.type), 2, largest, element=element)


def _map(schema: Schema, others: Schema, name: str) -> Declared | None:
    element = _below(others, f"{name}.@elem")
    if element is None:
        return None
    most = schema.get("maxProperties")
    largest = (_REQUEST_BYTES - 2) // (element.smallest + 6) if most is None else max(most, 0)
    return Declared(types.map_of(types.STRING, element.type), 2, largest, element=element, key=_STRING)


def _object(schema: Schema, name: str) -> Declared:
    required = set(schema.get("required") or ())
    fields: dict[str, Declared] = {}
    smallest = 2
    for raw, below in (schema.get("properties") or {}).items():
        escaped = names.escape(raw)
        part = _below(below, f"{name}.{escaped or raw}")
        if part is None:
            continue
        if escaped is not None:
            fields[escaped] = part
        if raw in required and below.get("default") is None:
            smallest += len(raw.encode()) + part.smallest + 4
    return Declared(types.object_named(name), smallest, fields=fields)


def _text(schema: Schema) -> Declared:
    length = schema.get("maxLength")
    match schema.get("format"):
        case "byte":
            return Declared(types.BYTES, 2, _LONGEST_TEXT if length is None else max(length, 0))
        case "duration":
            return Declared(types.DURATION, 3, _TIME_LENGTH)
        case "date":
            return Declared(types.TIMESTAMP, _DATE_LENGTH, _DATE_LENGTH)
        case "date-time":
            return Declared(types.TIMESTAMP, 21, _TIME_LENGTH)
    if length is not None:
        return Declared(types.STRING, 2, _bytes_of(length))
    texts = [value for value in schema.get("enum") or () if isinstance(value, str)]
    if schema.get("enum"):
        return Declared(types.STRING, 2, max((len(text.encode()) for text in texts), default=0))
    return Declared(types.STRING, 2, _LONGEST_TEXT)


def _bytes_of(length: int) -> int:
    return max(length, 0) * _BYTES_A_CHARACTER
