"""Schemas of custom resources: compiles structural OpenAPI v3 schemas into the same nodes as Kubernetes' own types.

Must hold: any schema that is valid JSON compiles; what a structural schema may not say (a list without items, say) is
any JSON. Value validation, CEL rules and the rest stay in `Node.schema`.
"""

from collections.abc import Mapping

from aio_apiserver.registry.machinery.schema.model import MISSING, Field, Kind, Merge, Node, Schema, Structure

_SCALARS = {
    "string": Kind.STRING,
    "integer": Kind.INTEGER,
    "number": Kind.NUMBER,
    "boolean": Kind.BOOLEAN,
}


def compiled(schema: Schema) -> Node:
    """The node of a schema."""
    kind = _kind(schema)
    return Node(
        kind=kind,
        format=schema.get("format") or "",
        structure=_structure(schema) if kind is Kind.OBJECT else None,
        items=_items(schema, kind),
        merge=Merge.of(schema),
        default=schema.get("default", MISSING),
        is_nullable=bool(schema.get("nullable")),
        preserves_unknown_fields=bool(schema.get("x-kubernetes-preserve-unknown-fields")),
        is_embedded_resource=bool(schema.get("x-kubernetes-embedded-resource")),
        schema=schema,
    )


def _kind(schema: Schema) -> Kind:
    if schema.get("x-kubernetes-int-or-string"):
        return Kind.INT_OR_STRING
    name = schema.get("type") or ""
    if name == "object":
        return Kind.MAP if schema.get("additionalProperties") else Kind.OBJECT
    if name == "array":
        return Kind.LIST
    return _SCALARS.get(name, Kind.ANY)


def _structure(schema: Schema) -> Structure:
    properties: Mapping[str, Schema] = schema.get("properties") or {}
    required = frozenset(schema.get("required") or ())

    def fields() -> Mapping[str, Field]:
        return {
            name: Field(name, compiled(member), is_required=name in required, is_pointer=True)
            for name, member in properties.items()
        }

    return Structure("", fields)


def _items(schema: Schema, kind: Kind) -> Node | None:
    if kind not in {Kind.LIST, Kind.MAP}:
        return None
    items = schema.get("items" if kind is Kind.LIST else "additionalProperties")
    return compiled(items if isinstance(items, Mapping) else {})
