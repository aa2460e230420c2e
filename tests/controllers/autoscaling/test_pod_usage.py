"""From the usage of pods to the replicas that an autoscaler proposes."""

from typing import Any

import pytest

from aio_apiserver.controllers.autoscaling import pod_usage
from aio_apiserver.controllers.autoscaling.pod_usage import (
    AverageUtilization,
    AverageValue,
    PodMetric,
    Tolerances,
    Uncountable,
    UsageTarget,
)
from aio_apiserver.registry.generic.rest import timestamp

NOW = 1_900_000_000.0
HOUR = 3600.0


def _pod(name: str, phase: str = "Running", *, ready: str = "True", age: float = HOUR, since: float = HOUR) -> Any:
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": timestamp(NOW - since)}
    status = {"phase": phase, "startTime": timestamp(NOW - age), "conditions": [condition]}
    requests = {"requests": {"cpu": "1", "memory": "1Gi"}}
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "resources": requests}]},
        "status": status,
    }


def _pods(count: int) -> list[Any]:
    return [_pod(f"p{number}") for number in range(count)]


def _proposed(
    used: list[int | None], pods: list[Any], *, target: int = 50, is_cpu: bool = True, gauge: UsageTarget | None = None
) -> int:
    """The replicas for the usage of the first pods, in thousandths of a CPU, and a target in percent."""
    metrics = {f"p{at}": PodMetric(value, NOW, 15.0) for at, value in enumerate(used) if value is not None}
    made = gauge or AverageUtilization(target, pod_usage.requests(pods, "cpu"))
    return pod_usage.propose(
        len(pods), pods, metrics, lambda: made, is_cpu=is_cpu, tolerances=Tolerances(), now=NOW
    ).replicas


@pytest.mark.parametrize(
    ("used", "replicas"),
    [
        ([500, 500, 500], 3),
        ([540, 540, 540], 3),
        ([460, 460, 460], 3),
        ([560, 560, 560], 4),
        ([1000, 1000, 1000], 6),
        ([100, 100, 100], 1),
        ([0, 0, 0], 0),
    ],
)
def test_replicas_follow_the_ratio_beyond_a_tenth(used: list[int | None], replicas: int) -> None:
    assert _proposed(used, _pods(3)) == replicas


@pytest.mark.parametrize(("used", "replicas"), [([100, 100], 1), ([300, 300], 3), ([210, 210], 2)])
def test_an_average_value_counts_without_requests(used: list[int | None], replicas: int) -> None:
    assert _proposed(used, _pods(2), gauge=AverageValue(200)) == replicas


@pytest.mark.parametrize(
    ("used", "replicas"),
    [
        pytest.param([1000, 1000, None], 4, id="missing pods count with nothing when pods are added"),
        pytest.param([700, 700, None], 3, id="which may leave too little of a difference"),
        pytest.param([100, 100, None], 3, id="and with all of their request when pods are removed"),
        pytest.param([10, 10, None, 10, 10], 2, id="which may remove fewer pods"),
    ],
)
def test_pods_without_metrics_dampen(used: list[int | None], replicas: int) -> None:
    assert _proposed(used, _pods(len(used))) == replicas


@pytest.mark.parametrize(
    ("other", "replicas"),
    [
        pytest.param(_pod("p2", "Pending"), 4, id="pending"),
        pytest.param(_pod("p2", ready="False", age=60), 4, id="unready and young"),
        pytest.param(_pod("p2", age=60, since=10), 4, id="ready for less than a window"),
        pytest.param(_pod("p2", ready="False", age=HOUR, since=HOUR - 10), 4, id="never ready"),
        pytest.param(_pod("p2", ready="False", age=HOUR, since=100), 6, id="unready again, which counts"),
        pytest.param(_pod("p2", "Failed"), 4, id="failed"),
    ],
)
def test_pods_that_do_not_work_yet_dampen(other: Any, replicas: int) -> None:
    assert _proposed([1000, 1000, 1000], [*_pods(2), other]) == replicas


def test_young_pods_count_for_memory() -> None:
    young = _pod("p1", ready="False", age=1)

    assert _proposed([400, 400], [*_pods(1), young], is_cpu=False, gauge=AverageValue(100)) == 8


@pytest.mark.parametrize(
    ("pods", "used", "message"),
    [
        ([], [], "no pods returned by selector while calculating replica count"),
        (_pods(1), [None], "did not receive metrics for targeted pods (pods might be unready)"),
    ],
)
def test_some_metrics_allow_no_number(pods: list[Any], used: list[int | None], message: str) -> None:
    with pytest.raises(Uncountable) as refused:
        _proposed(used, pods)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}]}, 1000),
        ({"containers": [{"name": "a"}], "resources": {"requests": {"cpu": "2"}}}, 2000),
    ],
)
def test_requests_are_those_of_the_pod_or_its_containers(spec: Any, found: int) -> None:
    assert pod_usage.requests([{"metadata": {"name": "p"}, "spec": spec}], "cpu") == {"p": found}


@pytest.mark.parametrize(
    ("container", "message"),
    [("", "missing request for cpu in container a of Pod p"), ("b", "container b not found in Pod p")],
)
def test_a_missing_request_is_named(container: str, message: str) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a"}]}}

    with pytest.raises(Uncountable, match=message):
        pod_usage.requests([pod], "cpu", container)
