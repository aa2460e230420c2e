"""Schemas of custom resources in the same model."""

from typing import Any

import pytest

from aio_apiserver.registry.machinery.custom import custom
from aio_apiserver.registry.machinery.schema.decode import Decoders, Findings
from aio_apiserver.registry.machinery.schema.model import MISSING, Kind, Merge


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        ({"type": "object"}, Kind.OBJECT),
        ({"type": "object", "properties": {"a": {}}}, Kind.OBJECT),
        ({"type": "object", "additionalProperties": {"type": "string"}}, Kind.MAP),
        ({"type": "object", "additionalProperties": True}, Kind.MAP),
        ({"type": "object", "additionalProperties": False}, Kind.OBJECT),
        ({"type": "array", "items": {"type": "string"}}, Kind.LIST),
        ({"type": "array"}, Kind.LIST),
        ({"type": "string", "format": "date-time"}, Kind.STRING),
        ({"type": "integer"}, Kind.INTEGER),
        ({"type": "number"}, Kind.NUMBER),
        ({"type": "boolean"}, Kind.BOOLEAN),
        ({"x-kubernetes-int-or-string": True}, Kind.INT_OR_STRING),
        ({"x-kubernetes-preserve-unknown-fields": True}, Kind.ANY),
        ({"type": "nonsense"}, Kind.ANY),
        ({}, Kind.ANY),
    ],
)
def test_every_schema_is_of_a_kind(stated: dict[str, Any], kind: Kind) -> None:
    assert custom.compiled(stated).kind is kind


def test_elements_and_values_that_no_schema_describes_are_any_json() -> None:
    for stated in ({"type": "array"}, {"type": "object", "additionalProperties": True}):
        items = custom.compiled(stated).items

        assert items is not None
        assert items.kind is Kind.ANY


def test_extensions_are_read() -> None:
    node = custom.compiled(
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
    node = custom.compiled({"type": "object", "properties": {"b": {}, "a": {}}, "required": ["a"]})

    assert node.structure is not None
    assert [(name, field.is_required) for name, field in node.structure.fields.items()] == [("b", False), ("a", True)]


def test_the_decoder_of_built_in_types_reads_them() -> None:
    node = custom.compiled({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}})
    findings = Findings()

    decoded = Decoders().of(node)({"a": [1, 0], "b": 1}, None, findings)

    assert decoded == {"a": [1, 0]}
    assert findings.strict_errors == ['unknown field "b"']
