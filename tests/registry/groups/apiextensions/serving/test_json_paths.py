"""Tests JSONPath."""

from typing import Any

import pytest

from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.registry.groups.apiextensions.serving import json_path_steps, json_paths

OBJ: dict[str, Any] = {
    "metadata": {"labels": {"app.kubernetes.io/name": "web"}},
    "spec": {"list": ["x", "y", "z"], "nested": {"deep": {"name": "inner"}}, "name": "outer"},
    "status": {"conditions": [{"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}]},
}
NESTED = (OBJ["spec"]["nested"], OBJ["spec"]["nested"]["deep"], "inner")
UNLIMITED = BudgetLimits(steps=1_000_000, bytes_made=1_000_000)


def find(path: str, value: Any = OBJ, limits: BudgetLimits = UNLIMITED) -> list[Any]:
    return list(json_paths.compiled(path).find(value, Budget(limits)))


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (".spec.name", ["outer"]),
        (".spec.missing", []),
        (".spec.list[0]", ["x"]),
        (".spec.list[-1]", ["z"]),
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
        (".spec..", [OBJ["spec"], OBJ["spec"]["list"], "x", "y", "z", "outer", *NESTED]),
        (".spec.nested.*", [{"name": "inner"}]),
        (".spec.list[::2]", ["x", "z"]),
        (".spec.list[-2:]", ["y", "z"]),
        (".spec.list[1:1]", []),
        (".spec.list[]", ["x"]),
        (".spec.list[0,-1]", ["x", "z"]),
        (".spec['name', 'missing']", ["outer"]),
        ('.status.conditions[?(@.type=="a)b")].status', []),
        (".status.conditions[?(@.status!=@.type)].type", ["Other", "Ready"]),
        (".status.conditions[?(@.type>'P')].status", ["True"]),
        (".spec.list[?(true)]", ["x", "y", "z"]),
        (".spec.name} and more", ["outer"]),
        (".spec.name}{.spec.list", ["outer"]),
        (".['spec']", []),
        (".", []),
    ],
)
def test_values_are_read_as_client_go_reads_them(path: str, values: list[Any]) -> None:
    assert find(path) == values


@pytest.mark.parametrize(
    "path",
    [
        ".spec.a{",
        ".spec[",
        ".spec[x]",
        ".spec.list[?(@.a",
        ".spec.list[?(@.a)x]",
        ".spec....name",
        ".spec..*",
        ".spec.list[-]",
        f".spec.list[{2**63}]",
        ".spec.list[?(@.a=='b)]",
        r".spec.list[?(@.a=='\9')]",
        ".spec\nname",
        ".spec[0\n]",
        f".{'a' * json_paths.LONGEST}",
    ],
)
def test_an_invalid_path_raises(path: str) -> None:
    with pytest.raises(json_paths.InvalidJSONPath):
        json_paths.compiled(path)


@pytest.mark.parametrize(
    "path",
    [
        ".spec.list[?(@ > 5)]",
        ".spec.list[9]",
        ".spec.list[-4]",
        ".spec.list[2:1]",
        ".spec.list[0:2:0]",
        ".spec[0]",
        ".spec[?(@.name)]",
        ".spec.list[?(@=>5)]",
        ".status.conditions[?(@.*=='True')]",
        ".spec word",
        ".spec}{[0]",
    ],
)
def test_a_path_that_client_go_cannot_evaluate_raises(path: str) -> None:
    with pytest.raises(json_path_steps.Unevaluable):
        find(path)


def test_quoted_texts_have_the_escapes_of_go() -> None:
    assert find(r""".status.conditions[?(@.type=="\x52\145\u0061d\U00000079")].status""") == ["True"]


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"x": value}
    return value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("..x..x..x..x", _deep(150)),
        (f".x{'[*,*]' * 20}", {"x": [[[[[1]]]]] * 100}),
        (".x[?(@.a==1)]", {"x": [{"a": 1}] * 10_000}),
        (".x.*", {"x": dict.fromkeys(map(str, range(10_000)))}),
        (".x[:]", {"x": [1] * 10_000}),
        ("..x" * 1_300, {"x": "a"}),
    ],
)
def test_a_path_pays_for_the_values_that_it_visits(path: str, value: Any) -> None:
    with pytest.raises(BudgetExceeded):
        find(path, value, BudgetLimits(steps=1_000, bytes_made=0))
