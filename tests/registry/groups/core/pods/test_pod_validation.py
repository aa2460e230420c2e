"""Tests the validation of pods."""

from typing import Any

import pytest

from aio_apiserver.registry.base.empties import Empty
from aio_apiserver.registry.base.errors import Invalid
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.groups.core.pods.pods import PODS
from tests.registry.defaulted import CONTEXT, created

CLAIM = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}


def container(**more: Any) -> dict[str, Any]:
    return {"name": "c", "image": "nginx", **more}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [container()], "initContainers": [container(name="i")]}, []),
        ({}, ["spec.containers: Required value"]),
        ({"containers": [{}]}, ["spec.containers[0].name: Required value", "spec.containers[0].image: Required value"]),
        (
            {"containers": [container(), container()]},
            ['spec.containers[1].name: Duplicate value: "c"'],
        ),
        (
            {"containers": [container()], "initContainers": [container()]},
            ['spec.initContainers[0].name: Duplicate value: "c"'],
        ),
        (
            {"containers": [container(image=" nginx")]},
            ['spec.containers[0].image: Invalid value: " nginx": must not have leading or trailing whitespace'],
        ),
        (
            {"containers": [container()], "restartPolicy": "always", "dnsPolicy": "Bogus"},
            [
                'spec.restartPolicy: Unsupported value: "always": supported values: "Always", "OnFailure", "Never"',
                'spec.dnsPolicy: Unsupported value: "Bogus": '
                'supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
            ],
        ),
        (
            {"containers": [container()], "ephemeralContainers": [container(name="e")]},
            ["spec.ephemeralContainers: Forbidden: cannot be set on create"],
        ),
        (
            {"containers": [container()], "ephemeralContainers": [container(name="e", lifecycle={})]},
            [
                "spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an Ephemeral Container",
                "spec.ephemeralContainers: Forbidden: cannot be set on create",
            ],
        ),
    ],
)
def test_a_new_pod(spec: dict[str, Any], expected: list[str]) -> None:
    assert [str(one) for one in PODS.strategy.validate(CONTEXT, created(PODS, {"spec": spec}))] == expected


@pytest.mark.parametrize("member", ["containers", "initContainers", "ephemeralContainers"])
def test_mistakes_beyond_those_of_a_response_are_not_looked_for(member: str) -> None:
    spec = {"containers": [container()], member: [{} for _ in range(5_000)]}

    found = PODS.strategy.validate(CONTEXT, created(PODS, {"spec": spec}))

    assert Invalid.most_causes <= len(found) < Invalid.most_causes + 10
    assert str(found[0]) == f"spec.{member}[0].name: Required value"


@pytest.mark.parametrize(
    ("spec", "empty", "expected"),
    [
        (
            {"resources": {"limits": {"cpu": "1"}}},
            ("spec", "resources", "claims"),
            "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level",
        ),
        (
            {"os": {"name": "windows"}},
            ("spec", "securityContext", "supplementalGroups"),
            "spec.securityContext.supplementalGroups: Forbidden: cannot be set for a windows pod",
        ),
        (
            {"ephemeralContainers": [container(name="e")]},
            ("spec", "ephemeralContainers", 0, "ports"),
            "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
        ),
        (
            {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": CLAIM}}]},
            ("spec", "volumes", 0, "ephemeral", "volumeClaimTemplate", "metadata", "finalizers"),
            "spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.finalizers: Forbidden: cannot be set",
        ),
    ],
)
def test_forbidden_fields_may_not_be_empty_either(
    spec: dict[str, Any], empty: tuple[str | int, ...], expected: str
) -> None:
    new = created(PODS, {"spec": {"containers": [container()], **spec}})
    context = StrategyContext(namespace="default", empties=[Empty(empty, is_map=False)])

    without, found = ([str(one) for one in PODS.strategy.validate(sent, new)] for sent in (CONTEXT, context))

    assert [one for one in found if one not in without] == [expected]
