"""Tests the changes that an update of a pod may make."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.core.pods.pods import PODS
from tests.registry.defaulted import CONTEXT, created, updated

TOLERATION = {"key": "k", "operator": "Exists", "effect": "NoExecute"}
OLD: dict[str, Any] = {
    "containers": [{"name": "c", "image": "nginx"}],
    "activeDeadlineSeconds": 60,
    "tolerations": [TOLERATION],
    "schedulingGates": [{"name": "g"}],
}


def refused(old_spec: dict[str, Any], **changes: Any) -> list[str]:
    old = created(PODS, {"spec": old_spec})
    new = updated(PODS, old, {"spec": {**old_spec, **changes}})
    return [error.path for error in PODS.strategy.validate_update(CONTEXT, new, old)]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"containers": [{"name": "c", "image": "other", "imagePullPolicy": "Always"}]},
        {"activeDeadlineSeconds": 30},
        {"tolerations": [{**TOLERATION, "tolerationSeconds": 5}, {"key": "more"}]},
        {"schedulingGates": []},
        {"nodeSelector": {"a": "b"}},
    ],
)
def test_may_change(changes: dict[str, Any]) -> None:
    assert refused(OLD, **changes) == []


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"containers": [*OLD["containers"], {"name": "d", "image": "nginx"}]}, "spec.containers"),
        ({"activeDeadlineSeconds": 90}, "spec.activeDeadlineSeconds"),
        ({"activeDeadlineSeconds": None}, "spec.activeDeadlineSeconds"),
        ({"tolerations": [{"key": "other"}]}, "spec.tolerations"),
        ({"schedulingGates": [{"name": "g"}, {"name": "h"}]}, "spec.schedulingGates[1].name"),
        ({"hostname": "h"}, "spec"),
        ({"affinity": {}}, "spec"),
    ],
)
def test_may_not_change(changes: dict[str, Any], path: str) -> None:
    assert refused(OLD, **changes) == [path]


def test_a_duplicate_scheduling_gate_is_reported_once() -> None:
    paths = refused(OLD, schedulingGates=[{"name": "g"}, {"name": "h"}, {"name": "h"}])

    assert paths == ["spec.schedulingGates[2]", "spec.schedulingGates[2].name"]


def test_an_empty_selector_differs_from_a_missing_one() -> None:
    def spread(**selector: Any) -> dict[str, Any]:
        rule = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **selector}
        return {"topologySpreadConstraints": [rule]}

    assert refused({**OLD, **spread()}, **spread(labelSelector={})) == ["spec"]


def test_without_gates_the_node_affinity_is_immutable() -> None:
    assert refused({"containers": OLD["containers"]}, nodeSelector={"a": "b"}) == ["spec"]
