"""From one value for a whole target to the replicas that an autoscaler proposes."""

from typing import Any

import pytest

from aio_apiserver.controllers.autoscaling import metrics
from aio_apiserver.controllers.autoscaling.pod_usage import Tolerances, Uncountable

EXACT = Tolerances()


def _pods(ready: int, unready: int = 0) -> list[Any]:
    statuses = ["True"] * ready + ["False"] * unready
    return [{"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": one}]}} for one in statuses]


@pytest.mark.parametrize(
    ("amount", "ready", "unready", "replicas"),
    [(1050, 2, 0, 2), (2000, 2, 0, 4), (2000, 1, 1, 2), (100, 4, 0, 1), (0, 4, 0, 0), (2**62, 2, 0, 2**31 - 1)],
)
def test_a_value_multiplies_the_ready_pods(amount: int, ready: int, unready: int, replicas: int) -> None:
    found = metrics.for_value(amount, 1000, ready + unready, _pods(ready, unready), EXACT)

    assert (found.replicas, found.gauged.average) == (replicas, amount)


def test_a_value_needs_pods() -> None:
    with pytest.raises(Uncountable, match="unable to calculate ready pods: no pods returned by selector"):
        metrics.for_value(2000, 1000, 2, [], EXACT)


@pytest.mark.parametrize(
    ("amount", "pods", "replicas", "average"),
    [(2100, 2, 2, 1050), (3001, 2, 4, 1501), (500, 2, 1, 250), (3000, 0, 3, 3000)],
)
def test_an_average_is_shared_by_the_pods(amount: int, pods: int, replicas: int, average: int) -> None:
    found = metrics.for_average(amount, 1000, pods, EXACT)

    assert (found.replicas, found.gauged.average) == (replicas, average)


def test_a_sum_fits_64_bits() -> None:
    assert metrics.total([1, 2]) == 3
    assert metrics.total([2**63 - 1, 1]) == 2**63 - 1
