"""Tests the validation of definitions."""

from typing import Any

import pytest

from aio_apiserver.registry.base.empties import Empty
from aio_apiserver.registry.groups.apiextensions.validation import definition_validation
from tests.registry.groups.apiextensions.example_definitions import SCHEMA, definition, version

ROOT = "spec.validation.openAPIV3Schema"


def stored(crd: dict[str, Any]) -> dict[str, Any]:
    return {**crd, "status": {"storedVersions": ["v1"]}}


def errors_of(crd: dict[str, Any]) -> list[str]:
    return [str(error) for error in definition_validation.validate(stored(crd))]


def with_field(schema: dict[str, Any]) -> dict[str, Any]:
    whole = {"type": "object", "properties": {"a": schema}}
    return definition("widgets", version("v1", storage=True, schema=whole))


def test_a_valid_definition_has_no_errors() -> None:
    assert errors_of(definition()) == []


def test_the_name_of_a_definition_is_plural_and_group() -> None:
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
            {
                "type": "object",
                "x-kubernetes-embedded-resource": True,
                "properties": {"b": {"type": "string"}},
                "default": {"apiVersion": "v1", "kind": "A", "metadata": {"name": "c", "d": 1}, "z": 1},
            },
            f"{ROOT}.properties[a].default: Invalid value: "
            '{"apiVersion":"v1","kind":"A","metadata":{"name":"c"},"z":1}: must not have unknown fields',
        ),
        (
            {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"},
            f"{ROOT}.properties[a].x-kubernetes-list-map-keys: Required value: "
            "must not be empty if x-kubernetes-list-type is map",
        ),
        (
            {"type": "string", "dependencies": {"a": None}},
            f"{ROOT}.properties[a].dependencies: Forbidden: dependencies is not supported",
        ),
        (
            {"type": "string", "anyOf": [{"type": "string"}]},
            f"{ROOT}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural",
        ),
    ],
)
def test_schemas_are_structural(schema: dict[str, Any], wrong: str) -> None:
    assert errors_of(with_field(schema)) == [wrong]


def test_empty_values_are_validated_but_make_no_difference_between_versions() -> None:
    crd = definition("widgets", version("v1", storage=True), version("v2"))
    empty = Empty(("spec", "versions", 1, "schema", "openAPIV3Schema", "properties", "spec", "dependencies"), True)

    assert [str(error) for error in definition_validation.validate(stored(crd), [empty])] == []
    first = empty._replace(path=("spec", "versions", 0, *empty.path[3:]))
    assert [str(error) for error in definition_validation.validate(stored(crd), [first])] == [
        f"{ROOT}.properties[spec].dependencies: Forbidden: dependencies is not supported"
    ]


@pytest.mark.parametrize(
    ("said", "is_told"),
    [({"maxProperties": 0}, True), ({"$ref": ""}, True), ({"title": "", "nullable": False}, False)],
)
def test_the_root_of_a_schema_with_status_has_few_members(said: dict[str, Any], is_told: bool) -> None:
    crd = definition("widgets", version("v1", storage=True, schema={**SCHEMA, **said}, subresources={"status": {}}))

    assert any("fields are allowed at the root of the schema" in error for error in errors_of(crd)) == is_told


def test_a_definition_that_preserves_unknown_fields_has_no_defaults_and_no_conversion() -> None:
    crd = with_field({"type": "string", "default": "x"})
    crd["spec"] |= {"preserveUnknownFields": True, "conversion": {"strategy": "Webhook"}}

    found = errors_of(crd)

    assert found[0] == (
        "spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema"
    )
    assert found[1] == (
        'spec.conversion.strategy: Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true'
    )


def test_the_second_version_of_a_name_is_not_the_stored_one() -> None:
    crd = definition("widgets", version("v1", storage=True), version("v1", storage=True))

    assert errors_of(crd)[-1] == 'status.storedVersions: Invalid value: ["v1"]: must have the storage version v1'


def test_paths_of_rules_have_escapes() -> None:
    below = {"type": "object", "properties": {"c\a": {"type": "string"}}}
    rule = {"rule": "true", "fieldPath": ".b['c\\a']"}
    schema = {"type": "object", "properties": {"b": below}, "x-kubernetes-validations": [rule]}

    assert errors_of(with_field(schema)) == []
    rule["fieldPath"] = ".b['c\\x']"
    assert [error.endswith("must be a valid path") for error in errors_of(with_field(schema))] == [True]


def test_an_update_may_keep_violations_of_newer_rules() -> None:
    unsound = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}}
    old = {**with_field(unsound), "status": {"storedVersions": ["v1"]}}

    assert definition_validation.validate(old) != []
    assert definition_validation.validate_update(old, old) == []


def test_a_stored_version_stays_in_stored_versions() -> None:
    old = {**definition(), "status": {"storedVersions": ["v1"]}}
    new = {**definition("widgets", version("v2", storage=True)), "status": {"storedVersions": ["v1", "v2"]}}

    (error,) = definition_validation.validate_update(new, old)

    assert error.path == "status.storedVersions[0]"
    assert "v1 was previously a storage version" in error.detail


def test_unknown_formats_get_one_warning() -> None:
    crd = with_field({"type": "string", "format": "zebra"})

    assert definition_validation.format_warnings(crd, None) == ['unrecognized format "zebra"']
    assert definition_validation.format_warnings(crd, crd) == []


def test_deep_schemas_are_validated() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(60):
        deep = {"type": "object", "properties": {"a": deep}}

    assert errors_of(with_field(deep)) == []


def test_rules_are_checked_beside_other_errors_but_not_above_them() -> None:
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
