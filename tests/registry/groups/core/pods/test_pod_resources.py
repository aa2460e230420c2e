"""Tests resources of pods: defaults from limits, sums, QoS classes."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.core.pods.parts import pod_resources


def container(requests: Any = None, limits: Any = None, **more: Any) -> dict[str, Any]:
    return {"resources": {"requests": requests or {}, "limits": limits or {}}, **more}


FULL = {"cpu": "1", "memory": "1Gi"}


def test_requests_default_to_limits() -> None:
    spec = {"containers": [container({"cpu": "100m"}, FULL)]}

    pod_resources.default_requests(spec)

    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "100m", "memory": "1Gi"}


def test_a_pod_with_limits_requests_the_sum_of_its_containers() -> None:
    spec: dict[str, Any] = {
        "containers": [container({"cpu": "100m"}), container({"cpu": "200m"})],
        "initContainers": [container({"cpu": "50m"}, restartPolicy="Always"), container({"cpu": "700m"})],
        "resources": {"limits": {"cpu": "2", "memory": "1Gi"}},
    }

    pod_resources.default_requests(spec)

    assert spec["resources"]["requests"] == {"cpu": "750m", "memory": "1Gi"}


def test_huge_pages_of_containers_limit_the_pod() -> None:
    pages = {"hugepages-2Mi": "4Mi"}
    spec: dict[str, Any] = {"containers": [container(pages, pages)], "resources": {"limits": {"cpu": "1"}}}

    pod_resources.default_requests(spec)

    assert spec["resources"] == {"limits": {"cpu": "1", **pages}, "requests": {"cpu": "1", **pages}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [container()]}, "BestEffort"),
        ({"containers": [container({"cpu": "0"}, {"example.com/gpu": "1"})]}, "BestEffort"),
        ({"containers": [container(FULL, FULL)]}, "Guaranteed"),
        ({"containers": [container({"cpu": "1000m", "memory": "1024Mi"}, FULL)]}, "Guaranteed"),
        ({"containers": [container(FULL, FULL), container()]}, "Burstable"),
        ({"containers": [container(FULL, FULL)], "initContainers": [container()]}, "Burstable"),
        ({"containers": [container({"cpu": "1"}, FULL)]}, "Burstable"),
        ({"containers": [container()], "resources": {"requests": FULL, "limits": FULL}}, "Guaranteed"),
        ({"containers": [container(FULL, FULL)], "resources": {"requests": FULL}}, "Burstable"),
    ],
)
def test_class_of_service(spec: dict[str, Any], expected: str) -> None:
    assert pod_resources.qos_class(spec) == expected
