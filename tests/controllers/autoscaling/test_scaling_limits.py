"""Windows, policies and limits of autoscalers."""

from typing import Any

import pytest

from aio_apiserver.controllers.autoscaling import scaling_limits
from aio_apiserver.controllers.autoscaling.scaling_limits import Bounds, ScalingHistory

NOW = 1000.0


def _policy(kind: str, value: int, seconds: int = 60) -> dict[str, Any]:
    return {"type": kind, "value": value, "periodSeconds": seconds}


def _rules(*policies: dict[str, Any], select: str = "Max", window: int = 0) -> dict[str, Any]:
    return {"policies": list(policies), "selectPolicy": select, "stabilizationWindowSeconds": window}


_FREE = _rules(_policy("Percent", 100), _policy("Pods", 100))


def _limited(wanted: int, current: int, behavior: Any = None, history: ScalingHistory | None = None) -> tuple[int, str]:
    bounds = Bounds(current, 2, 20)
    found = scaling_limits.limit(wanted, bounds, history or ScalingHistory(), behavior, now=NOW)
    return found.replicas, found.reason


@pytest.mark.parametrize(
    ("wanted", "current", "found"),
    [
        (5, 4, (5, "DesiredWithinRange")),
        (1, 4, (2, "TooFewReplicas")),
        (9, 4, (8, "ScaleUpLimit")),
        (9, 2, (4, "ScaleUpLimit")),
        (30, 15, (20, "TooManyReplicas")),
    ],
)
def test_without_a_behavior_replicas_double_at_most(wanted: int, current: int, found: tuple[int, str]) -> None:
    assert _limited(wanted, current) == found


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        (_rules(_policy("Pods", 3)), (13, "ScaleUpLimit")),
        (_rules(_policy("Percent", 25)), (13, "ScaleUpLimit")),
        (_rules(_policy("Pods", 3), _policy("Percent", 50)), (15, "ScaleUpLimit")),
        (_rules(_policy("Pods", 3), _policy("Percent", 50), select="Min"), (13, "ScaleUpLimit")),
        (_rules(_policy("Pods", 3), select="Disabled"), (10, "ScaleUpLimit")),
        (_FREE, (18, "DesiredWithinRange")),
    ],
)
def test_policies_limit_how_many_pods_are_added(rules: Any, found: tuple[int, str]) -> None:
    assert _limited(18, 10, {"scaleUp": rules, "scaleDown": _FREE}) == found


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        (_rules(_policy("Pods", 3)), (7, "ScaleDownLimit")),
        (_rules(_policy("Percent", 25)), (7, "ScaleDownLimit")),
        (_rules(_policy("Pods", 3), _policy("Percent", 50)), (5, "ScaleDownLimit")),
        (_rules(_policy("Pods", 3), _policy("Percent", 50), select="Min"), (7, "ScaleDownLimit")),
        (_rules(_policy("Pods", 3), select="Disabled"), (10, "ScaleDownLimit")),
        (_FREE, (2, "TooFewReplicas")),
    ],
)
def test_policies_limit_how_many_pods_are_removed(rules: Any, found: tuple[int, str]) -> None:
    assert _limited(1, 10, {"scaleUp": _FREE, "scaleDown": rules}) == found


def test_earlier_changes_of_a_period_count() -> None:
    history = ScalingHistory()
    history.scaled(4, 6, now=NOW - 70)
    history.scaled(6, 8, now=NOW - 30)
    history.scaled(8, 7, now=NOW - 20)

    up, down = _rules(_policy("Pods", 3)), _rules(_policy("Pods", 3))
    behavior = {"scaleUp": up, "scaleDown": down}
    assert _limited(20, 7, behavior, history) == (9, "ScaleUpLimit")
    assert _limited(2, 7, behavior, history) == (3, "ScaleDownLimit")


@pytest.mark.parametrize(
    ("wanted", "current", "behavior", "found"),
    [
        pytest.param(3, 8, None, (8, "ScaleDownStabilized"), id="five minutes without a behavior"),
        pytest.param(9, 8, None, (9, "ReadyForNewScale"), id="which let pods be added"),
        pytest.param(3, 8, (0, 60), (5, "ScaleDownStabilized"), id="the highest of a window"),
        pytest.param(3, 8, (0, 0), (3, "ReadyForNewScale"), id="no window"),
        pytest.param(9, 4, (300, 0), (5, "ScaleUpStabilized"), id="the lowest of a window"),
        pytest.param(3, 8, (0, None), (8, "ScaleDownStabilized"), id="five minutes by default"),
    ],
)
def test_recent_recommendations_stabilize(wanted: int, current: int, behavior: Any, found: tuple[int, str]) -> None:
    history = ScalingHistory()
    for replicas, age in ((20, 400), (8, 200), (5, 30)):
        history.recommend(replicas, now=NOW - age)
    rules = None
    if behavior is not None:
        rules = {
            name: {"stabilizationWindowSeconds": one}
            for name, one in zip(("scaleUp", "scaleDown"), behavior, strict=True)
        }

    verdict = scaling_limits.stabilize(wanted, current, history, rules, now=NOW)

    assert (verdict.replicas, verdict.reason) == found
