"""Tests the condition of definitions whose schemas are not structural."""

from typing import Any

from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions import status_decisions
from aio_apiserver.registry.groups.apiextensions.definitions import crd_conditions
from tests.registry.groups.apiextensions.example_definitions import definition, version


def preserving(*schemas: Any) -> Any:
    """A definition as an old cluster may have stored it."""
    versions = [version(f"v{number}", storage=number == 1) for number in range(1, len(schemas) + 1)]
    for one, schema in zip(versions, schemas, strict=True):
        one["schema"] = {"openAPIV3Schema": schema}
    crd = definition("widgets", *versions)
    crd["spec"]["preserveUnknownFields"] = True
    crd["status"] = {}
    return crd


def said(crd: Any) -> Any:
    found = crd_conditions.find(crd, crd_conditions.NON_STRUCTURAL)
    return found and (found["status"], found["reason"], found["message"])


def test_a_definition_that_preserves_unknown_fields_reports_violations_in_a_condition() -> None:
    crd = preserving({"type": "object", "properties": {"a": {}}})

    assert status_decisions.structure(crd, "2026-01-01T00:00:00Z")

    wrong = (
        "spec.preserveUnknownFields: Invalid value: true: must be false",
        "spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: "
        "must not be empty for specified object fields",
    )
    assert said(crd) == ("True", "Violations", f"[{', '.join(wrong)}]")
    assert not status_decisions.structure(crd, "2026-01-01T00:00:01Z")


def test_an_unsupported_schema_is_reported_alone() -> None:
    crd = preserving({"type": "object"}, {"type": "object", "definitions": {"a": {}}})

    status_decisions.structure(crd, "2026-01-01T00:00:00Z")

    why = "failed to check validation schema for version v2: OpenAPIV3Schema 'definitions' is not supported"
    assert said(crd) == ("Unknown", "StructuralError", why)


def test_the_condition_is_removed_when_the_definition_prunes() -> None:
    crd = preserving({"type": "object"})
    status_decisions.structure(crd, "2026-01-01T00:00:00Z")
    crd["spec"]["preserveUnknownFields"] = False

    assert status_decisions.structure(crd, "2026-01-01T00:00:01Z")

    assert said(crd) is None


def test_a_definition_that_prunes_has_no_condition() -> None:
    crd = definition("widgets", version("v1", storage=True))
    crd["status"] = {}

    assert not status_decisions.structure(crd, "2026-01-01T00:00:00Z")
