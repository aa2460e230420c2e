"""Tests the table columns of custom resources."""

from typing import Any

from aio_apiserver.registry.groups.apiextensions.definitions.definition import Version
from aio_apiserver.registry.groups.apiextensions.serving import columns

TYPE = {"apiVersion": "example.com/v1", "kind": "Widget"}


def table(*paths: str) -> tuple[list[str], list[Any]]:
    asked = [{"name": path, "type": "string", "jsonPath": path} for path in paths]
    found = columns.of(Version("v1", True, {"additionalPrinterColumns": asked}), TYPE)
    return [column.name for column in found.columns], found.cells({"metadata": {"name": "a"}, "spec": {"n": 1}}, 0.0)


def test_columns_end_before_the_first_path_that_cannot_be_read() -> None:
    assert table(".spec.n", ".spec[", ".metadata.name") == (["Name", ".spec.n"], ["a", "1"])


def test_the_type_of_an_object_can_be_shown() -> None:
    assert table(".kind", ".apiVersion")[1] == ["a", "Widget", "example.com/v1"]
