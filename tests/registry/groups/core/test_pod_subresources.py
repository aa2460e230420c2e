"""Tests pods/resize and pods/status."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.core.pods import pods_ephemeralcontainers, pods_resize
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.pods.pods_status import PodStatusStrategy
from tests.registry.defaulted import CONTEXT, canonical, created, defaulted

AMOUNTS = {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}


def pod(**more: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "c", "image": "i", "resources": AMOUNTS}], **more}}


def resized(resources: dict[str, Any], **container: Any) -> tuple[list[str], dict[str, Any]]:
    old = created(PODS, pod())
    wanted = pod(containers=[{"name": "c", "image": "i", "resources": resources, **container}])
    new = canonical(PODS, defaulted(PODS, wanted))
    new["metadata"] = dict(old["metadata"])
    pods_resize.STRATEGY.prepare_for_update(CONTEXT, new, old)
    return [str(error) for error in pods_resize.STRATEGY.validate_update(CONTEXT, new, old)], new


def test_cpu_and_memory_may_change() -> None:
    errors, new = resized({"requests": {"cpu": "1500m"}, "limits": {"cpu": "2"}}, image="other")

    assert errors == []
    assert new["spec"]["containers"][0]["image"] == "i"
    assert new["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        (
            {"requests": {"cpu": "1"}},
            ["spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed"],
        ),
        (
            {"requests": {"cpu": "2"}, "limits": {"cpu": "2", "memory": "1Gi"}},
            ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'],
        ),
        (
            {**AMOUNTS, "requests": {"cpu": "1", "ephemeral-storage": "1Gi"}},
            ["spec: Forbidden: only cpu and memory resources are mutable"],
        ),
    ],
)
def test_invalid_container_resizes_are_refused(resources: dict[str, Any], expected: list[str]) -> None:
    if "memory" in resources.get("limits", {}):
        resources = {**resources, "requests": {"cpu": "2", "memory": "1Gi"}}

    assert resized(resources)[0] == expected


def test_a_static_pod_gets_one_error() -> None:
    old = created(PODS, {"metadata": {"name": "a", "annotations": {"kubernetes.io/config.mirror": "x"}}, **pod()})
    new = {**old, "metadata": {**old["metadata"], "labels": {"a": "b c"}}}

    for strategy in (pods_resize.STRATEGY, pods_ephemeralcontainers.STRATEGY):
        (error,) = strategy.validate_update(CONTEXT, new, old)
        assert error.detail.startswith("static pods ")


def test_invalid_pod_level_resizes_are_refused() -> None:
    own = {"requests": {"cpu": "1"}}
    old = created(PODS, pod(resources=own))
    new = canonical(PODS, defaulted(PODS, pod(initContainers=[{"name": "i", "image": "i"}])))
    new["metadata"] = dict(old["metadata"])

    pods_resize.STRATEGY.prepare_for_update(CONTEXT, new, old)

    assert [str(error) for error in pods_resize.STRATEGY.validate_update(CONTEXT, new, old)] == [
        "spec.resources: Forbidden: pod-level resources cannot be removed",
        "spec.initContainers: Forbidden: initContainers may not be added or removed on resize",
    ]
    new["spec"]["containers"][0]["resources"] = {}
    errors = pods_resize.STRATEGY.validate_update(CONTEXT, new, old)
    assert str(errors[0]) == 'spec: Invalid value: "": Pod QOS Class may not change as a result of resizing'


def reported(status: dict[str, Any], before: dict[str, Any], **spec: Any) -> list[str]:
    old = created(PODS, pod(**spec))
    old["status"] |= before
    new = {**old, "metadata": dict(old["metadata"]), "status": {"qosClass": "Burstable", **status}}
    strategy = PodStatusStrategy()
    strategy.prepare_for_update(CONTEXT, new, old)
    return [str(error) for error in strategy.validate_update(CONTEXT, new, old)]


RUNNING = {"containerStatuses": [{"name": "c", "state": {"running": {}}}]}


def ended(code: int) -> dict[str, Any]:
    return {"containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": code}}}]}


@pytest.mark.parametrize(
    ("policy", "code", "may_restart"),
    [("Always", 0, True), ("OnFailure", 0, False), ("OnFailure", 1, True), ("Never", 1, False)],
)
def test_a_terminated_container_may_restart_when_its_policy_allows_it(
    policy: str, code: int, may_restart: bool
) -> None:
    errors = reported(RUNNING, ended(code), restartPolicy=policy)

    why = "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"
    assert errors == ([] if may_restart else [why])


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]}, []),
        (
            {"podIPs": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]},
            [
                'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: '
                "may specify no more than one IP for each IP family"
            ],
        ),
        ({"qosClass": "Guaranteed"}, ['status.qosClass: Invalid value: "Guaranteed": field is immutable']),
        (
            {"conditions": [{"type": "a b", "status": "True"}]},
            ["status.conditions[0].Type"],
        ),
    ],
)
def test_invalid_statuses_of_pods_are_refused(status: dict[str, Any], expected: list[str]) -> None:
    found = reported(status, {})

    assert [error[: len(wanted)] for error, wanted in zip(found, expected, strict=True)] == expected
