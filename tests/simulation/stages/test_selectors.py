"""Selectors of Stages, with the paths that they use."""

from typing import Any

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.simulation.stages import paths, selectors
from aio_apiserver.simulation.stages.cel import StageExpressions
from aio_apiserver.simulation.stages.unsupported import Unsupported

CEL = StageExpressions(ManualClock(), lambda: 0.25)
OBJ: dict[str, Any] = {
    "metadata": {"name": "a", "labels": {"app.kubernetes.io/name": "web"}, "annotations": {"x": "1"}},
    "status": {
        "phase": "Pending",
        "ready": True,
        "count": 3,
        "conditions": [{"type": "Ready", "status": "False"}, {"type": "Initialized", "status": "True"}],
        "containers": [{"state": {"running": {"startedAt": "now"}}}, {"state": {}}],
        "none": None,
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".status.phase", ["Pending"]),
        ('.metadata.labels["app.kubernetes.io/name"]', ["web"]),
        ('.metadata.annotations["missing"]', []),
        (".missing.deeper", []),
        (".status.none", []),
        (".status.phase.deeper", []),
        (".status.missing[]", []),
        ('.status.conditions.[] | select( .type == "Ready" ) | .status', ["False"]),
        ('.status.conditions[] | select(.type != "Ready") | .status', ["True"]),
        (".status.containers.[].state.running.startedAt", ["now"]),
        (".status.conditions[0].type", ["Ready"]),
    ],
)
def test_a_path_yields_the_values_at_it(path: str, found: list[Any]) -> None:
    assert paths.parse(path)(OBJ) == found


@pytest.mark.parametrize(
    "path", [".a // .b", "length", '.a | test("x")', "select(.a > 1)", r'.a["\x"]', r'select(.a == "\q")']
)
def test_other_parts_of_jq_are_named_as_unsupported(path: str) -> None:
    with pytest.raises(Unsupported):
        paths.parse(path)


@pytest.mark.parametrize(
    ("operator", "key", "values", "matches"),
    [
        ("In", ".status.phase", ["Pending", "Running"], True),
        ("In", ".status.missing", ["Pending"], False),
        ("In", ".status.ready", ["true"], True),
        ("In", ".status.count", ["3"], True),
        ("NotIn", ".status.phase", ["Running"], True),
        ("NotIn", ".status.missing", ["Running"], True),
        ("Exists", ".status.phase", None, True),
        ("Exists", ".metadata.deletionTimestamp", None, False),
        ("DoesNotExist", ".metadata.deletionTimestamp", None, True),
        ("DoesNotExist", ".status.containers.[].state.running.startedAt", None, False),
    ],
)
def test_an_expression_matches_by_its_operator(operator: str, key: str, values: list[str], matches: bool) -> None:
    given = {"key": key, "operator": operator, "values": values}
    assert selectors.parse({"matchExpressions": [given]}, CEL)(OBJ) is matches
    assert selectors.parse({"matchExpressions": [{"jq": given}]}, CEL)(OBJ) is matches


def test_all_parts_of_a_selector_have_to_match() -> None:
    labels, annotations = {"app.kubernetes.io/name": "web"}, {"x": "2"}
    assert selectors.parse({"matchLabels": labels}, CEL)(OBJ)
    assert not selectors.parse({"matchLabels": labels, "matchAnnotations": annotations}, CEL)(OBJ)


@pytest.mark.parametrize(
    ("expression", "is_for"),
    [
        ("self.spec.nodeName == 'node-0' || has(self.metadata.labels)", True),
        ("!has(self.metadata.deletionTimestamp)", True),
        ("self.metadata.name in ['b', 'c']", False),
        ("self.spec.missing.part == 'x'", False),
        ("self.metadata.name", False),
    ],
)
def test_a_selector_may_be_written_in_cel(expression: str, is_for: bool) -> None:
    assert selectors.parse({"matchExpressions": [{"cel": {"expression": expression}}]}, CEL)(OBJ) is is_for


def test_an_empty_selector_matches_all_and_a_missing_one_none() -> None:
    assert selectors.parse({}, CEL)(OBJ)
    assert not selectors.parse(None, CEL)(OBJ)


@pytest.mark.parametrize(
    "selector",
    [
        {"matchExpressions": [{"cel": {"expression": "unknown(self)"}}]},
        {"matchExpressions": [{"cel": {"expression": "self."}}]},
        {"matchExpressions": [{"key": ".a"}]},
        {"x": 1},
    ],
)
def test_unsupported_selectors_are_refused(selector: dict[str, Any]) -> None:
    with pytest.raises(Unsupported):
        selectors.parse(selector, CEL)
