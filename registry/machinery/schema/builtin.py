"""Kubernetes' own types: compiles their OpenAPI definitions into nodes.

OpenAPI says what a field is; wire.py adds the order of fields, presence.py when they are printed, go_names.py what
messages call their types, and run_time_defaults.py the defaults that Kubernetes leaves out of OpenAPI.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.machinery.schema import definitions, go_names, presence, run_time_defaults, wire
from aio_apiserver.registry.machinery.schema.model import MISSING, Field, Kind, Merge, Node, Schema, Structure

_API = "io.k8s.apimachinery.pkg."
_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

_KINDS = {
    f"{_API}api.resource.Quantity": Kind.QUANTITY,
    f"{_API}util.intstr.IntOrString": Kind.INT_OR_STRING,
    f"{_API}apis.meta.v1.Time": Kind.TIME,
    f"{_API}apis.meta.v1.MicroTime": Kind.MICRO_TIME,
    f"{_API}apis.meta.v1.FieldsV1": Kind.ANY,
    f"{_API}runtime.RawExtension": Kind.ANY,
    f"{_EXTENSIONS}JSON": Kind.JSON,
    f"{_EXTENSIONS}JSONSchemaPropsOrArray": Kind.ONE_OF,
    f"{_EXTENSIONS}JSONSchemaPropsOrBool": Kind.ONE_OF,
    f"{_EXTENSIONS}JSONSchemaPropsOrStringArray": Kind.ONE_OF,
}
"""Definitions that are no structs in JSON."""

_PROPS = {"$ref": f"#/$defs/{_EXTENSIONS}JSONSchemaProps"}
_ALTERNATIVES: Mapping[str, tuple[Schema, ...]] = {
    f"{_EXTENSIONS}JSONSchemaPropsOrArray": (_PROPS, {"type": "array", "items": _PROPS}),
    f"{_EXTENSIONS}JSONSchemaPropsOrBool": (_PROPS, {"type": "boolean"}),
    f"{_EXTENSIONS}JSONSchemaPropsOrStringArray": (_PROPS, {"type": "array", "items": {"type": "string"}}),
}

_SCALARS = {"string": Kind.STRING, "integer": Kind.INTEGER, "number": Kind.NUMBER, "boolean": Kind.BOOLEAN}
_GO_SCALARS = {"boolean": "bool", "number": "float64"}


class BuiltinTypes:
    """The types of one minor, compiled as they are asked for."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas
        self._structures: dict[str, Structure] = {}

    def node(self, definition: str) -> Node:
        """The node of a definition by itself."""
        return self._referring({"$ref": f"#/$defs/{definition}"}, MISSING)

    def _structure(self, definition: str) -> Structure:
        structure = self._structures.get(definition)
        if structure is None:
            structure = Structure(definition, lambda: self._fields(definition))
            self._structures[definition] = structure
        return structure

    def _fields(self, definition: str) -> Mapping[str, Field]:
        schema = definitions.cleaned(self._schemas[definition])
        properties: Mapping[str, Schema] = schema.get("properties", {})
        required = frozenset(schema.get("required", ()))
        struct = definition.rpartition(".")[2]
        return {
            place.name: Field(
                place.name,
                self._member(definition, place.name, properties[place.name]),
                is_required=place.name in required,
                is_pointer=presence.is_pointer(definition, place.name),
                is_printed=presence.is_printed(definition, place.name, is_required=place.name in required),
                keeps_empty=presence.keeps_empty(definition, place.name),
                hides_zero=presence.hides_zero_struct(definition, place.name),
                struct=struct,
                embedded_in=place.embedded_in,
            )
            for place in wire.layout(definition, list(properties))
        }

    def _member(self, owner: str, name: str, schema: Schema) -> Node:
        """The node of a property, or of the elements within it: names of types go by the property."""
        default = run_time_defaults.default(owner, name)
        if definitions.referenced(schema):
            return self._referring(schema, default)
        if schema["type"] == "array":
            items = self._member(owner, name, schema["items"])
            go_type = go_names.list_type(owner, name, items.go_type)
            return _node(schema, Kind.LIST, go_type, items=items)
        if schema["type"] == "object":
            items = self._values(owner, name, schema["additionalProperties"])
            return _node(schema, Kind.MAP, go_names.map_type(owner, name, items.go_type), items=items)
        return _scalar(owner, name, schema, default)

    def _values(self, owner: str, name: str, schema: Schema) -> Node:
        """The node of a map's values."""
        if definitions.referenced(schema):
            return self._referring(schema, MISSING)
        if schema["type"] == "array":
            items = _node(schema["items"], Kind.STRING, "string")
            go_type = go_names.element_type(owner, name) or "[]string"
            return _node(schema, Kind.LIST, go_type, items=items)
        if schema.get("format") == "byte":
            return _node(schema, Kind.BYTES, "[]uint8")
        return _node(schema, Kind.STRING, go_names.value_type(owner, name))

    def _referring(self, schema: Schema, default: Any) -> Node:
        definition = definitions.referenced(schema)
        whole = {**definitions.cleaned(self._schemas[definition]), **schema}
        kind = _KINDS.get(definition, Kind.OBJECT)
        go_type = go_names.struct_type(definition)
        if kind is Kind.OBJECT:
            return _node(whole, kind, go_type, structure=self._structure(definition), default=default)
        alternatives = tuple(self._member(definition, "", one) for one in _ALTERNATIVES.get(definition, ()))
        return _node(whole, kind, go_type, alternatives=alternatives, default=default)


def _scalar(owner: str, name: str, schema: Schema, default: Any) -> Node:
    scalar, form = schema["type"], schema.get("format", "")
    if scalar != "string":
        go_type = _GO_SCALARS.get(scalar, form or "int64")
        return _node(schema, _SCALARS[scalar], go_type, default=default)
    if form == "byte":
        return _node(schema, Kind.BYTES, "[]uint8")
    return _node(schema, Kind.STRING, go_names.string_type(owner, name), default=default)


def _node(
    schema: Schema,
    kind: Kind,
    go_type: str,
    *,
    structure: Structure | None = None,
    items: Node | None = None,
    alternatives: tuple[Node, ...] = (),
    default: Any = MISSING,
) -> Node:
    return Node(
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
