"""Builtin: compiles the OpenAPI definitions of built-in types into schema nodes.

OpenAPI describes the fields. Other modules add facts about the Go types. wire.py has the order of fields, presence.py
tells when a field is printed, and go_names.py has the type names in messages. The types.json of a group has the
defaults that OpenAPI leaves out (registry/base/type_facts.py).
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base import type_facts
from aio_apiserver.registry.machinery.schema import definitions, go_names, presence, wire
from aio_apiserver.registry.machinery.schema.model import (
    MISSING,
    Merge,
    Schema,
    SchemaField,
    SchemaKind,
    SchemaNode,
    Structure,
)

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
        struct = definition.rpartition(".")[2]
        return {
            place.name: SchemaField(
                place.name,
                self._member(definition, place.name, properties[place.name]),
                is_required=place.name in required,
                is_pointer=presence.is_pointer(definition, place.name),
                is_printed=presence.is_printed(
                    definition, place.name, is_required=place.name in required, minor=self._minor
                ),
                keeps_empty=presence.keeps_empty(definition, place.name),
                keeps_sent_empty=place.name in type_facts.of_type(definition).kept_when_sent_empty,
                hides_zero=presence.hides_zero_struct(definition, place.name),
                struct=struct,
                embedded_in=place.embedded_in,
            )
            for place in wire.layout(definition, list(properties))
        }

    def _member(self, owner: str, name: str, schema: Schema) -> SchemaNode:
        """The node of a property or of its elements; messages name the type after the property."""
        default = type_facts.of_type(owner).defaults.get(name, MISSING)
        if definitions.referenced(schema):
            return self._referring(schema, default)
        if schema["type"] == "array":
            items = self._member(owner, name, schema["items"])
            go_type = go_names.list_type(owner, name, items.go_type)
            return _node(schema, SchemaKind.LIST, go_type, items=items)
        if schema["type"] == "object":
            items = self._values(owner, name, schema["additionalProperties"])
            return _node(schema, SchemaKind.MAP, go_names.map_type(owner, name, items.go_type), items=items)
        return _scalar(owner, name, schema, default)

    def _values(self, owner: str, name: str, schema: Schema) -> SchemaNode:
        """The node of the values of a map."""
        if definitions.referenced(schema):
            return self._referring(schema, MISSING)
        if schema["type"] == "array":
            items = _node(schema["items"], SchemaKind.STRING, "string")
            go_type = go_names.element_type(owner, name) or "[]string"
            return _node(schema, SchemaKind.LIST, go_type, items=items)
        if schema.get("format") == "byte":
            return _node(schema, SchemaKind.BYTES, "[]uint8")
        return _node(schema, SchemaKind.STRING, go_names.value_type(owner, name))

    def _referring(self, schema: Schema, default: Any) -> SchemaNode:
        definition = definitions.referenced(schema)
        whole = {**definitions.cleaned(self._schemas[definition]), **schema}
        kind = _KINDS.get(definition, SchemaKind.OBJECT)
        go_type = go_names.struct_type(definition)
        if kind is SchemaKind.OBJECT:
            return _node(whole, kind, go_type, structure=self._structure(definition), default=default)
        alternatives = tuple(self._member(definition, "", one) for one in _ALTERNATIVES.get(definition, ()))
        return _node(whole, kind, go_type, alternatives=alternatives, default=default)


def _scalar(owner: str, name: str, schema: Schema, default: Any) -> SchemaNode:
    scalar, form = schema["type"], schema.get("format", "")
    if scalar != "string":
        go_type = _GO_SCALARS.get(scalar, form or "int64")
        return _node(schema, _SCALARS[scalar], go_type, default=default)
    if form == "byte":
        return _node(schema, SchemaKind.BYTES, "[]uint8")
    return _node(schema, SchemaKind.STRING, go_names.string_type(owner, name), default=default)


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
