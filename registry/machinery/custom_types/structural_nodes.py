"""Structural nodes: compiles the structural schemas of custom resources into the same nodes as built-in types.

Must hold: any schema that is valid JSON compiles. A part that is not structural, such as a list without items, accepts
any JSON. Value validations and CEL rules stay in `SchemaNode.schema`.
"""

from collections.abc import Mapping

from aio_apiserver.registry.machinery.schema.model import (
    MISSING,
    Merge,
    Schema,
    SchemaField,
    SchemaKind,
    SchemaNode,
    Structure,
)

_SCALARS = {
    "string": SchemaKind.STRING,
    "integer": SchemaKind.INTEGER,
    "number": SchemaKind.NUMBER,
    "boolean": SchemaKind.BOOLEAN,
}


def compiled(schema: Schema) -> SchemaNode:
    """The node of a schema."""
    kind = _kind(schema)
    return SchemaNode(
        kind=kind,
        format=schema.get("format") or "",
        structure=_structure(schema) if kind is SchemaKind.OBJECT else None,
        items=_items(schema, kind),
        merge=Merge.of(schema),
        default=schema.get("default", MISSING),
        is_nullable=bool(schema.get("nullable")),
        preserves_unknown_fields=bool(schema.get("x-kubernetes-preserve-unknown-fields")),
        is_embedded_resource=bool(schema.get("x-kubernetes-embedded-resource")),
        schema=schema,
    )


def _kind(schema: Schema) -> SchemaKind:
    if schema.get("x-kubernetes-int-or-string"):
        return SchemaKind.INT_OR_STRING
    name = schema.get("type") or ""
    if name == "object":
        return SchemaKind.MAP if schema.get("additionalProperties") else SchemaKind.OBJECT
    if name == "array":
        return SchemaKind.LIST
    return _SCALARS.get(name, SchemaKind.ANY)


def _structure(schema: Schema) -> Structure:
    properties: Mapping[str, Schema] = schema.get("properties") or {}
    required = frozenset(schema.get("required") or ())

    def fields() -> Mapping[str, SchemaField]:
        return {
            name: SchemaField(name, compiled(member), is_required=name in required, is_pointer=True)
            for name, member in properties.items()
        }

    return Structure("", fields)


def _items(schema: Schema, kind: SchemaKind) -> SchemaNode | None:
    if kind not in {SchemaKind.LIST, SchemaKind.MAP}:
        return None
    items = schema.get("items" if kind is SchemaKind.LIST else "additionalProperties")
    return compiled(items if isinstance(items, Mapping) else {})
