"""What pods refuse."""

from typing import Any

import pytest

from registry.core.pods import PODS
from tests.registry.defaulted import CONTEXT, created


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
