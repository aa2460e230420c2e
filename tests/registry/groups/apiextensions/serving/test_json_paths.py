"""Tests JSONPath."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.apiextensions.serving import json_paths

OBJ: dict[str, Any] = {
    "metadata": {"labels": {"app.kubernetes.io/name": "web"}},
    "spec": {"list": ["x", "y", "z"], "nested": {"deep": {"name": "inner"}}, "name": "outer"},
    "status": {"conditions": [{"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}]},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.name", ["outer"]),
        (".spec.missing", []),
        (".spec.list[0]", ["x"]),
        (".spec.list[-1]", ["z"]),
        (".spec.list[9]", []),
        (".spec.list[0:2]", ["x", "y"]),
        (".spec.list[*]", ["x", "y", "z"]),
        (".spec['name']", ["outer"]),
        (r".metadata.labels.app\.kubernetes\.io/name", ["web"]),
        (r".metadata.labels['app\.kubernetes\.io/name']", ["web"]),
        (".metadata.labels['app.kubernetes.io/name']", []),
        (".spec.name ", ["outer"]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type!='Ready')].status", ["False"]),
        (".status.conditions[?(@.missing)].status", []),
        (".spec.nested..name", ["inner"]),
    ],
)
def test_values_are_found(path: str, found: list[Any]) -> None:
    assert json_paths.compiled(path)(OBJ) == found


@pytest.mark.parametrize("path", [".spec.a{", ".spec[", ".spec[x]", ".spec.list[?(@.a"])
def test_an_invalid_path_raises(path: str) -> None:
    with pytest.raises(json_paths.InvalidJSONPath):
        json_paths.compiled(path)


def test_a_filter_compares_values_of_one_type() -> None:
    with pytest.raises(json_paths.Uncomparable):
        json_paths.compiled(".spec.list[?(@ > 5)]")(OBJ)
