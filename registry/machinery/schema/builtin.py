"""Builtin: compiles the OpenAPI definitions of built-in types into schema nodes.

OpenAPI describes the fields. wire.py has their order in the Go structs, which of them are pointers, and the Go names of
their types. The types.json of a group has the defaults that OpenAPI leaves out (registry/base/type_facts.py).
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base import type_facts
from aio_apiserver.registry.machinery.schema import definitions, go_names, wire
from aio_apiserver.registry.machinery.schema.model import (
    MISSING,
    Merge,
    Schema,
    SchemaField,
    SchemaKind,
    SchemaNode,
    Structure,
)
from aio_apiserver.registry.machinery.schema.wire import Place

_API = "io.k8s.apimachinery.pkg."
_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

_KINDS = {
    f"{_API}api.resource.Quantity": SchemaKind.QUANTITY,
    f"{_API}util.intstr.IntOrString": SchemaKind.INT_OR_STRING,
    f"{_API}apis.meta.v1.Time": SchemaKind.TIME,
    f"{_API}apis.meta.v1.MicroTime": SchemaKind.MICRO_TIME,
    f"{_API}apis.meta.v1.FieldsV1": SchemaKind.ANY,
    f"{_API}runtime.RawExtension": SchemaKind.ANY,
    f"{_EXTENSIONS}JSON": SchemaKind.JSON,
    f"{_EXTENSIONS}JSONSchemaPropsOrArray": SchemaKind.ONE_OF,
    f"{_EXTENSIONS}JSONSchemaPropsOrBool": SchemaKind.ONE_OF,
    f"{_EXTENSIONS}JSONSchemaPropsOrStringArray": SchemaKind.ONE_OF,
}
"""Definitions whose JSON is no object."""

_PROPS = {"$ref": f"#/$defs/{_EXTENSIONS}JSONSchemaProps"}
_ALTERNATIVES: Mapping[str, tuple[Schema, ...]] = {
    f"{_EXTENSIONS}JSONSchemaPropsOrArray": (_PROPS, {"type": "array", "items": _PROPS}),
    f"{_EXTENSIONS}JSONSchemaPropsOrBool": (_PROPS, {"type": "boolean"}),
    f"{_EXTENSIONS}JSONSchemaPropsOrStringArray": (_PROPS, {"type": "array", "items": {"type": "string"}}),
}

_SCALARS = {
    "string": SchemaKind.STRING,
    "integer": SchemaKind.INTEGER,
    "number": SchemaKind.NUMBER,
    "boolean": SchemaKind.BOOLEAN,
}
_GO_SCALARS = {"boolean": "bool", "number": "float64"}
_WITHOUT_PROTOBUF = (
    "io.k8s.api.authentication.",
    "io.k8s.api.authorization.",
    "io.k8s.apiextensions-apiserver.",
    "io.k8s.kube-aggregator.",
)
"""Reviews that are never stored, and types that are stored as JSON."""


class BuiltinTypes:
    """The types of one Kubernetes minor version, compiled at their first use."""

    def __init__(self, schemas: Mapping[str, Schema], minor: str) -> None:
        self._schemas = schemas
        self._minor = minor
        self._structures: dict[str, Structure] = {}

    def node(self, definition: str) -> SchemaNode:
        """The node of a definition."""
        return self._referring({"$ref": f"#/$defs/{definition}"}, MISSING)

    def _structure(self, definition: str) -> Structure:
        structure = self._structures.get(definition)
        if structure is None:
            structure = Structure(definition, lambda: self._fields(definition))
            self._structures[definition] = structure
        return structure

    def _fields(self, definition: str) -> Mapping[str, SchemaField]:
        schema = definitions.cleaned(self._schemas[definition])
        properties: Mapping[str, Schema] = schema.get("properties", {})
        required = frozenset(schema.get("required", ()))
        places = wire.layout(definition, list(properties), self._minor)
        return {
            place.name: self._field(definition, place, properties[place.name], is_required=place.name in required)
            for place in places
        }

    def _field(self, definition: str, place: Place, schema: Schema, *, is_required: bool) -> SchemaField:
        facts, in_go = type_facts.of_type(definition, self._minor), place.field
        default = facts.defaults.get(place.name, MISSING)
        return SchemaField(
            place.name,
            self._member(schema, "" if in_go is None else in_go.go_type, default),
            is_required=is_required,
            is_pointer=in_go is not None and in_go.is_pointer,
            is_printed=is_required if in_go is None else in_go.is_printed,
            keeps_empty=_keeps_empty(definition, place.name),
            keeps_sent_empty=place.name in facts.kept_when_sent_empty,
            hides_zero=in_go is not None and in_go.hides_zero,
            struct=definition.rpartition(".")[2],
            embedded_in=place.embedded_in,
        )

    def _member(self, schema: Schema, go_type: str = "", default: Any = MISSING) -> SchemaNode:
        """The node of a property or of its elements. go_type: Go's name of the type, where OpenAPI does not tell it."""
        if definitions.referenced(schema):
            return self._referring(schema, default)
        if schema["type"] == "array":
            items = self._member(schema["items"], go_names.element_type(go_type))
            return _node(schema, SchemaKind.LIST, go_type or f"[]{items.go_type}", items=items)
        if schema["type"] == "object":
            items = self._member(schema["additionalProperties"], go_names.element_type(go_type))
            return _node(schema, SchemaKind.MAP, go_type or f"map[string]{items.go_type}", items=items)
        return _scalar(schema, go_type, default)

    def _referring(self, schema: Schema, default: Any) -> SchemaNode:
        definition = definitions.referenced(schema)
        whole = {**definitions.cleaned(self._schemas[definition]), **schema}
        kind = _KINDS.get(definition, SchemaKind.OBJECT)
        go_type = go_names.struct_type(definition)
        if kind is SchemaKind.OBJECT:
            return _node(whole, kind, go_type, structure=self._structure(definition), default=default)
        alternatives = tuple(self._member(one) for one in _ALTERNATIVES.get(definition, ()))
        return _node(whole, kind, go_type, alternatives=alternatives, default=default)


def _keeps_empty(definition: str, field: str) -> bool:
    """Whether an empty list stays empty instead of null: types without protobuf, whose encoding does not distinguish
    them.
    """
    is_list = field == "items" and definition.endswith("List")
    return is_list or definition.startswith(_WITHOUT_PROTOBUF)


def _scalar(schema: Schema, go_type: str, default: Any) -> SchemaNode:
    scalar, form = schema["type"], schema.get("format", "")
    if scalar != "string":
        return _node(schema, _SCALARS[scalar], go_type or _GO_SCALARS.get(scalar, form or "int64"), default=default)
    if form == "byte":
        return _node(schema, SchemaKind.BYTES, "[]uint8")
    return _node(schema, SchemaKind.STRING, go_type or "string", default=default)


def _node(
    schema: Schema,
    kind: SchemaKind,
    go_type: str,
    *,
    structure: Structure | None = None,
    items: SchemaNode | None = None,
    alternatives: tuple[SchemaNode, ...] = (),
    default: Any = MISSING,
) -> SchemaNode:
    return SchemaNode(
        kind=kind,
        format=schema.get("format", ""),
        go_type=go_type,
        structure=structure,
        items=items,
        alternatives=alternatives,
        merge=Merge.of(schema),
        default=default,
        schema=schema,
    )
