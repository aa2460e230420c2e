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


def cells(obj: dict[str, Any], *paths: str, of_type: str = "string") -> list[Any]:
    declared = [{"name": path, "type": of_type, "jsonPath": path} for path in paths]
    return columns.of(Version("v1", True, {"additionalPrinterColumns": declared}), TYPE).cells(obj, 0.0)[1:]


def deep(levels: int) -> Any:
    value: Any = "end"
    for _ in range(levels):
        value = {"x": value}
    return value


def test_a_cell_beyond_the_budget_of_its_row_is_empty() -> None:
    obj = {"metadata": {"name": "a"}, "spec": deep(150)}

    assert cells(obj, ".metadata.name", ".spec..x..x..x..x", ".metadata.name") == ["a", None, None]


def test_a_row_is_no_longer_than_its_budget() -> None:
    text = "a" * (columns.ROW.bytes_made // 2)
    obj = {"metadata": {"name": "a"}, "text": text, "list": [text]}

    assert cells(obj, ".text", ".list", ".text") == [text, None, None]
    assert cells(obj, ".list", ".text", ".metadata.name") == [f'["{text}"]', None, None]


def test_an_integer_that_does_not_fit_is_the_least_one() -> None:
    assert cells({"metadata": {"name": "a"}, "n": 1e300}, ".n", of_type="integer") == [-(2**63)]


def test_texts_of_containers_have_the_escapes_of_go() -> None:
    assert cells({"metadata": {}, "m": {"b": "<&>", "a": 1}}, ".m") == ['{"a":1,"b":"\\u003c\\u0026\\u003e"}']
