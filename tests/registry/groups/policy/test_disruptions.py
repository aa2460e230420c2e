"""Tests charging a disruption to a budget."""

from typing import Any

import pytest

from aio_apiserver.registry.base.errors import Forbidden, StatusError, TooManyRequests
from aio_apiserver.registry.groups.policy import disruptions

NOW = "2030-01-01T00:00:00Z"


def budget(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "b", "generation": 2}, "spec": {}, "status": {"observedGeneration": 2, **status}}


def test_a_disruption_is_charged_and_recorded() -> None:
    charged = budget(disruptionsAllowed=2)

    disruptions.charge(charged, "p", now=NOW)

    assert charged["status"] == {"observedGeneration": 2, "disruptionsAllowed": 1, "disruptedPods": {"p": NOW}}


def test_the_last_disruption_sets_the_condition() -> None:
    charged = budget(disruptionsAllowed=1)

    disruptions.charge(charged, "p", now=NOW)

    (condition,) = charged["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "DisruptionAllowed",
        "False",
        "InsufficientPods",
    )


@pytest.mark.parametrize(
    ("status", "error", "cause"),
    [
        ({"observedGeneration": 1}, TooManyRequests, "is still being processed by the server."),
        ({"disruptionsAllowed": -1}, Forbidden, ""),
        ({"currentHealthy": 1, "desiredHealthy": 2}, TooManyRequests, "needs 2 healthy pods and has 1 currently"),
        ({"currentHealthy": 2, "desiredHealthy": 1}, TooManyRequests, "does not allow evicting pods currently"),
    ],
)
def test_a_budget_without_disruptions_says_why(status: dict[str, Any], error: type[StatusError], cause: str) -> None:
    with pytest.raises(error) as raised:
        disruptions.charge(budget(**status), "p", now=NOW)

    causes = raised.value.details.causes if raised.value.details else ()
    assert "".join(one.message for one in causes).endswith(cause)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"status": {"currentHealthy": 2, "desiredHealthy": 2}}, True),
        ({"status": {"currentHealthy": 1, "desiredHealthy": 2}}, False),
        ({"status": {}}, False),
        ({"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}, True),
    ],
)
def test_unhealthy_pods_may_be_evicted_when_the_budget_is_met(changes: dict[str, Any], expected: bool) -> None:
    assert disruptions.allows_unhealthy({**budget(), **changes}) is expected
