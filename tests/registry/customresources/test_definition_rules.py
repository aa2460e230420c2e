"""What a definition may say."""

from typing import Any

import pytest

from registry.customresources import definition_rules
from tests.registry.customresources.definitions import definition, version

ROOT = "spec.validation.openAPIV3Schema"


def errors_of(crd: dict[str, Any]) -> list[str]:
    crd = {**crd, "status": {"storedVersions": ["v1"]}}
    return [str(error) for error in definition_rules.validate(crd)]


def with_field(schema: dict[str, Any]) -> dict[str, Any]:
    whole = {"type": "object", "properties": {"a": schema}}
    return definition("widgets", version("v1", storage=True, schema=whole))


def test_a_usual_definition_is_right() -> None:
    assert errors_of(definition()) == []


def test_a_name_is_made_of_plural_and_group() -> None:
    crd = definition()
    crd["metadata"]["name"] = "gadgets.example.com"

    assert errors_of(crd) == [
        'metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group'
    ]


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        ({}, f"{ROOT}.properties[a].type: Required value: must not be empty for specified object fields"),
        ({"type": "array"}, f"{ROOT}.properties[a].items: Required value: must be specified"),
        ({"type": "object", "$ref": "#/x"}, f"{ROOT}.properties[a].$ref: Forbidden: $ref is not supported"),
        (
            {"type": "string", "pattern": "("},
            f'{ROOT}.properties[a].pattern: Invalid value: "(": must be a valid regular expression, '
            "but isn't: error parsing regexp: missing closing ): `(`",
        ),
        (
            {"type": "integer", "default": "x"},
            f'{ROOT}.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"',
        ),
        (
            {"type": "object", "default": {"b": 1}},
            f'{ROOT}.properties[a].default: Invalid value: {{"b":1}}: must not have unknown fields',
        ),
        (
            {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"},
            f"{ROOT}.properties[a].x-kubernetes-list-map-keys: Required value: "
            "must not be empty if x-kubernetes-list-type is map",
        ),
        (
            {"type": "string", "anyOf": [{"type": "string"}]},
            f"{ROOT}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural",
        ),
    ],
)
def test_schemas_are_structural(schema: dict[str, Any], wrong: str) -> None:
    assert errors_of(with_field(schema)) == [wrong]


def test_an_update_does_not_ask_for_more_than_there_was() -> None:
    unsound = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}}
    old = {**with_field(unsound), "status": {"storedVersions": ["v1"]}}

    assert definition_rules.validate(old) != []
    assert definition_rules.validate_update(old, old) == []


def test_a_version_that_was_stored_stays() -> None:
    old = {**definition(), "status": {"storedVersions": ["v1"]}}
    new = {**definition("widgets", version("v2", storage=True)), "status": {"storedVersions": ["v1", "v2"]}}

    (error,) = definition_rules.validate_update(new, old)

    assert error.path == "status.storedVersions[0]"
    assert "v1 was previously a storage version" in error.detail


def test_formats_that_mean_nothing_are_warned_of_once() -> None:
    crd = with_field({"type": "string", "format": "zebra"})

    assert definition_rules.format_warnings(crd, None) == ['unrecognized format "zebra"']
    assert definition_rules.format_warnings(crd, crd) == []


def test_deep_schemas_are_looked_at() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(60):
        deep = {"type": "object", "properties": {"a": deep}}

    assert errors_of(with_field(deep)) == []


def test_rules_are_looked_at_beside_what_else_is_wrong_and_not_above_it() -> None:
    rule = [{"rule": "self.nowhere"}]
    members: dict[str, Any] = {
        "list": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "heap"},
        "ruled": {"type": "object", "x-kubernetes-validations": rule},
    }
    crd = with_field({"type": "object", "properties": members, "x-kubernetes-validations": rule})

    unsound, ill_ruled = errors_of(crd)

    assert unsound.startswith(
        f'{ROOT}.properties[a].properties[list].x-kubernetes-list-type: Unsupported value: "heap"'
    )
    assert ill_ruled.startswith(
        f"{ROOT}.properties[a].properties[ruled].x-kubernetes-validations[0].rule: Invalid value"
    )
