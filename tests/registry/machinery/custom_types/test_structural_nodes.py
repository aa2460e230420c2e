"""Structural nodes: structural schemas as nodes."""

from typing import Any

import pytest

from aio_apiserver.registry.machinery.custom_types import structural_nodes
from aio_apiserver.registry.machinery.schema.decode import Decoders, Findings
from aio_apiserver.registry.machinery.schema.model import MISSING, Merge, SchemaKind


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        ({"type": "object"}, SchemaKind.OBJECT),
        ({"type": "object", "properties": {"a": {}}}, SchemaKind.OBJECT),
        ({"type": "object", "additionalProperties": {"type": "string"}}, SchemaKind.MAP),
        ({"type": "object", "additionalProperties": True}, SchemaKind.MAP),
        ({"type": "object", "additionalProperties": False}, SchemaKind.OBJECT),
        ({"type": "array", "items": {"type": "string"}}, SchemaKind.LIST),
        ({"type": "array"}, SchemaKind.LIST),
        ({"type": "string", "format": "date-time"}, SchemaKind.STRING),
        ({"type": "integer"}, SchemaKind.INTEGER),
        ({"type": "number"}, SchemaKind.NUMBER),
        ({"type": "boolean"}, SchemaKind.BOOLEAN),
        ({"x-kubernetes-int-or-string": True}, SchemaKind.INT_OR_STRING),
        ({"x-kubernetes-preserve-unknown-fields": True}, SchemaKind.ANY),
        ({"type": "nonsense"}, SchemaKind.ANY),
        ({}, SchemaKind.ANY),
    ],
)
def test_every_schema_is_of_a_kind(stated: dict[str, Any], kind: SchemaKind) -> None:
    assert structural_nodes.compiled(stated).kind is kind


def test_elements_and_values_that_no_schema_describes_are_any_json() -> None:
    for stated in ({"type": "array"}, {"type": "object", "additionalProperties": True}):
        items = structural_nodes.compiled(stated).items

        assert items is not None
        assert items.kind is SchemaKind.ANY


def test_extensions_are_read() -> None:
    node = structural_nodes.compiled(
        {
            "type": "array",
            "items": {"type": "object", "x-kubernetes-embedded-resource": True, "nullable": True},
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "default": None,
            "description": "words",
            "enum": [1],
            "x-kubernetes-preserve-unknown-fields": True,
        }
    )

    assert node.merge == Merge(list_type="map", map_keys=("name",))
    assert node.default is None
    assert node.preserves_unknown_fields
    assert (node.description, node.enum) == ("words", (1,))
    assert node.items is not None
    assert (node.items.is_embedded_resource, node.items.is_nullable, node.items.default) == (True, True, MISSING)


def test_members_keep_their_order_and_know_whether_they_are_required() -> None:
    node = structural_nodes.compiled({"type": "object", "properties": {"b": {}, "a": {}}, "required": ["a"]})

    assert node.structure is not None
    assert [(name, field.is_required) for name, field in node.structure.fields.items()] == [("b", False), ("a", True)]


def test_the_decoder_of_built_in_types_reads_them() -> None:
    node = structural_nodes.compiled(
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    )
    findings = Findings()

    decoded = Decoders().of(node)({"a": [1, 0], "b": 1}, None, findings)

    assert decoded == {"a": [1, 0]}
    assert findings.strict_errors == ['unknown field "b"']
