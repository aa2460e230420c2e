"""horizontalpodautoscalers_columns: the columns of a HorizontalPodAutoscaler, with each metric, measured and wanted."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE, UNSET

_SHOWN = 2
_UNKNOWN = "<unknown>"
_NIL = "<nil>"
_SOURCES = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
_RESOURCES = frozenset({"Resource", "ContainerResource"})

_Metric = Mapping[str, Any]


def _targets(obj: Object, _now: float) -> str:
    specs = objects.get(obj, "spec.metrics", ())
    if not specs:
        return NONE
    statuses: Sequence[_Metric] = objects.get(obj, "status.currentMetrics", ())
    texts = [_metric(spec, statuses[at] if at < len(statuses) else {}) for at, spec in enumerate(specs)]
    return formats.with_more(texts, _SHOWN, len(texts), ", ")


def _metric(spec: _Metric, status: _Metric) -> str:
    source = _SOURCES.get(spec.get("type", ""))
    if source is None:
        return "<unknown type>"
    metric, found = spec.get(source) or {}, status.get(source)
    target = metric.get("target") or {}
    current = None if found is None else found.get("current") or {}
    if spec["type"] in _RESOURCES:
        return f"{metric.get('name', '')}: {_resource(target, current)}"
    if spec["type"] == "Pods":
        return f"{_quantity(current, 'averageValue')}/{target.get('averageValue', _NIL)}"
    if target.get("averageValue") is not None:
        average = (current or {}).get("averageValue", _UNKNOWN)
        return f"{average}/{target['averageValue']} (avg)"
    return f"{_quantity(current, 'value')}/{target.get('value', _NIL)}"


def _resource(target: _Metric, current: _Metric | None) -> str:
    if target.get("averageValue") is not None:
        return f"{_quantity(current, 'averageValue')}/{target['averageValue']}"
    return f"{_percent(current or {}, _UNKNOWN)}/{_percent(target, '<auto>')}"


def _quantity(current: _Metric | None, name: str) -> str:
    return _UNKNOWN if current is None else str(current.get(name, _NIL))


def _percent(value_: _Metric, default: str) -> str:
    utilization = value_.get("averageUtilization")
    return default if utilization is None else f"{utilization}%"


def _reference(obj: Object, _now: float) -> str:
    target = objects.get(obj, "spec.scaleTargetRef", {})
    return f"{target.get('kind', '')}/{target.get('name', '')}"


_SPEC = "autoscaling.v2.HorizontalPodAutoscalerSpec"
COLUMNS = table_of(
    NAME,
    (Column(name="Reference", field=f"{_SPEC}.scaleTargetRef"), _reference),
    (Column(name="Targets", field=f"{_SPEC}.metrics"), _targets),
    (
        Column(name="MinPods", field=f"{_SPEC}.minReplicas"),
        lambda obj, _now: str(objects.get(obj, "spec.minReplicas", UNSET)),
    ),
    (Column(name="MaxPods", field=f"{_SPEC}.maxReplicas"), value("spec.maxReplicas", 0)),
    (
        Column(name="Replicas", field="autoscaling.v2.HorizontalPodAutoscalerStatus.currentReplicas"),
        value("status.currentReplicas", 0),
    ),
    AGE,
)
