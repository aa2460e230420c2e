"""Tests that autoscalers keep all values through a conversion to the older version and back."""

from typing import Any

import orjson
import pytest

from aio_apiserver.registry.groups.autoscaling import conversion
from aio_apiserver.registry.groups.autoscaling.horizontalpodautoscalers import HORIZONTALPODAUTOSCALERS
from tests.registry.defaulted import defaulted

TARGET = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
SELECTOR = {"matchLabels": {"a": "b"}}
METRICS: list[dict[str, Any]] = [
    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
    {
        "type": "ContainerResource",
        "containerResource": {
            "name": "cpu",
            "container": "c",
            "target": {"type": "Utilization", "averageUtilization": 50},
        },
    },
    {
        "type": "Pods",
        "pods": {
            "metric": {"name": "m", "selector": SELECTOR},
            "target": {"type": "AverageValue", "averageValue": "10"},
        },
    },
    {
        "type": "Object",
        "object": {
            "describedObject": TARGET,
            "metric": {"name": "m"},
            "target": {"type": "Value", "value": "5"},
        },
    },
    {
        "type": "External",
        "external": {"metric": {"name": "m", "selector": SELECTOR}, "target": {"type": "Value", "value": "7"}},
    },
]


def autoscaler(metrics: list[dict[str, Any]], **spec: Any) -> dict[str, Any]:
    return defaulted(
        HORIZONTALPODAUTOSCALERS, {"spec": {"scaleTargetRef": TARGET, "maxReplicas": 3, "metrics": metrics, **spec}}
    )


def through_v1(obj: dict[str, Any]) -> dict[str, Any]:
    return conversion.V1.to_hub(conversion.V1.from_hub(orjson.loads(orjson.dumps(obj))))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric["type"])
def test_metrics_of_all_types_survive_a_round_trip(metric: dict[str, Any]) -> None:
    obj = autoscaler([metric])

    assert through_v1(obj)["spec"]["metrics"] == [metric]


def test_behavior_survives_a_round_trip() -> None:
    obj = autoscaler(METRICS[:1], behavior={"scaleDown": {"stabilizationWindowSeconds": 60, "tolerance": "100m"}})

    assert through_v1(obj)["spec"]["behavior"] == obj["spec"]["behavior"]


def test_metric_statuses_and_conditions_survive_a_round_trip() -> None:
    status = {
        "currentReplicas": 2,
        "currentMetrics": [
            {"type": "Pods", "pods": {"metric": {"name": "m"}, "current": {"averageValue": "3"}}},
            {
                "type": "Object",
                "object": {"metric": {"name": "m"}, "current": {"value": "1"}, "describedObject": TARGET},
            },
        ],
        "conditions": [{"type": "AbleToScale", "status": "True", "lastTransitionTime": "2030-01-01T00:00:00Z"}],
    }
    obj = {**autoscaler(METRICS[:1]), "status": status}

    assert through_v1(obj)["status"] == status


@pytest.mark.parametrize("text", ["no json", "{}", "[1]", '[{"type":"Pods","pods":{"targetAverageValue":"many"}}]'])
def test_an_invalid_annotation_is_ignored(text: str) -> None:
    annotations = {"autoscaling.alpha.kubernetes.io/metrics": text}
    v1 = {"metadata": {"name": "a", "annotations": annotations}, "spec": {"scaleTargetRef": TARGET, "maxReplicas": 3}}

    hub = conversion.V1.to_hub(v1)

    assert [one["resource"]["target"]["averageUtilization"] for one in hub["spec"]["metrics"]] == [80]
    assert hub["metadata"]["annotations"] == {}
