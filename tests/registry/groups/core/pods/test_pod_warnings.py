"""Tests the warnings for accepted pods and templates."""

from typing import Any

import pytest

from aio_apiserver.registry.groups.core.pods import pod_warnings
from aio_apiserver.registry.groups.core.pods.pods import PODS
from tests.registry.defaulted import created

CONTAINER = {"name": "c", "image": "nginx"}


def warned(annotations: dict[str, str] | None = None, **spec: Any) -> list[str]:
    value = {"metadata": {"name": "a", "annotations": annotations or {}}, "spec": {"containers": [CONTAINER], **spec}}
    return pod_warnings.pod_warnings(created(PODS, value))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        (
            {"nodeSelector": {"beta.kubernetes.io/os": "linux"}},
            ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
        ),
        (
            {"volumes": [{"name": "v", "rbd": {"monitors": ["m"], "image": "i"}}]},
            ["spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+"],
        ),
        (
            {"containers": [{**CONTAINER, "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}]},
            ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
        ),
        ({"containers": [{**CONTAINER, "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}]}]}, []),
        (
            {"volumes": [{"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": "a"}] * 2}}]},
            ['volume "v" (ConfigMap "m"): overlapping paths: "a" with "a"'],
        ),
        (
            {"containers": [{**CONTAINER, "ports": [{"containerPort": 1}, {"containerPort": 1, "hostPort": 2}]}]},
            ["spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]"],
        ),
    ],
)
def test_unusual_fields_of_pods_get_warnings(spec: dict[str, Any], expected: list[str]) -> None:
    assert warned(**spec) == expected


def test_warnings_for_a_template_have_its_path() -> None:
    template = {"metadata": {}, "spec": {"imagePullSecrets": [{"name": "s"}, {"name": "s"}]}}

    found = pod_warnings.template_warnings(template, "spec.template")

    assert found == ['spec.template.spec.imagePullSecrets[1].name: duplicate name "s"']


def test_non_functional_annotations_get_warnings() -> None:
    found = warned({"scheduler.alpha.kubernetes.io/critical-pod": ""})

    assert found[0].startswith("metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional")
