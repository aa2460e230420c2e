"""Conversion: between autoscaling/v2, which is stored, and autoscaling/v1, which has CPU utilization as its one metric.

Pure. Fields that v1 lacks are in annotations of v1 objects: metrics and their status in the form of v1, behaviour in
kube-apiserver's form. Must hold: annotations that cannot be parsed are ignored.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang import json_texts
from aio_apiserver.registry.base.validation import internal
from aio_apiserver.registry.groups.autoscaling import metrics
from aio_apiserver.registry.machinery.schema import DecodeError, builtin
from aio_apiserver.registry.machinery.view import Conversion

_PREFIX = "autoscaling.alpha.kubernetes.io/"
_METRICS = _PREFIX + "metrics"
_STATES = _PREFIX + "current-metrics"
_CONDITIONS = _PREFIX + "conditions"
_BEHAVIOR = _PREFIX + "behavior"
_ANNOTATIONS = (
    _METRICS,
    _BEHAVIOR,
    _PREFIX + "scale-down-tolerance",
    _PREFIX + "scale-up-tolerance",
    _STATES,
    _CONDITIONS,
)
_CPU_UTILIZATION = 80
_SHARED_SPEC = ("scaleTargetRef", "minReplicas", "maxReplicas")
_SHARED_STATUS = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")


def drop_annotations(obj: Object) -> None:
    """Remove the annotations of v1 from an object, in place."""
    annotations = obj["metadata"].get("annotations")
    if annotations and not annotations.keys().isdisjoint(_ANNOTATIONS):
        kept = {name: value for name, value in annotations.items() if name not in _ANNOTATIONS}
        obj["metadata"]["annotations"] = kept


def _to_hub(obj: Object) -> Object:
    given = dict(obj["metadata"].get("annotations") or {})
    drop_annotations(obj)
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    hub = {"metadata": obj["metadata"], "spec": _picked(spec, _SHARED_SPEC), "status": _picked(status, _SHARED_STATUS)}
    _read(given.get(_METRICS), "spec.metrics", hub, lambda value: [metrics.spec_from_v1(one) for one in value])
    percentage = spec.get("targetCPUUtilizationPercentage")
    if percentage is not None:
        hub["spec"]["metrics"] = [*(hub["spec"].get("metrics") or ()), _cpu(percentage)]
    default_metrics(hub["spec"])
    _read(given.get(_BEHAVIOR), "spec.behavior", hub, _lowered)
    used = status.get("currentCPUUtilizationPercentage")
    if used is not None:
        state = {"name": "cpu", "current": {"averageUtilization": used}}
        hub["status"]["currentMetrics"] = [{"type": "Resource", "resource": state}]
    _read(given.get(_STATES), "status.currentMetrics", hub, lambda value: [metrics.state_from_v1(one) for one in value])
    _read(given.get(_CONDITIONS), "status.conditions", hub, lambda value: value)
    return hub


def default_metrics(spec: Object) -> None:
    """Default the metrics to CPU utilization. For v1 this runs after its annotations have been read."""
    if not spec.get("metrics"):
        spec["metrics"] = [_cpu(_CPU_UTILIZATION)]


def _cpu(percentage: int) -> Object:
    target = {"type": "Utilization", "averageUtilization": percentage}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _picked(part: Mapping[str, Any], names: tuple[str, ...]) -> Object:
    return {name: part[name] for name in names if name in part}


def _read(text: str | None, path: str, hub: Object, convert: Callable[[Any], Any]) -> None:
    """Copy the value of an annotation to its field when it can be parsed."""
    if text is None:
        return
    part: Object = {}
    try:
        objects.put(part, path, convert(json_texts.value_of(text.encode())))
        found = builtin().type_for("autoscaling", "v2", "HorizontalPodAutoscaler").decode(part).obj
    except (ValueError, TypeError, AttributeError, KeyError, DecodeError):
        return
    value = objects.get(found, path)
    if value:
        objects.put(hub, path, value)


def _lowered(value: Any) -> Any:
    """The value with each member name beginning in lower case, as in the API."""
    if isinstance(value, dict):
        return {name[:1].lower() + name[1:]: _lowered(one) for name, one in value.items()}
    return [_lowered(one) for one in value] if isinstance(value, list) else value


def _from_hub(hub: Object) -> Object:
    spec, status = hub.get("spec") or {}, hub.get("status") or {}
    v1 = {"metadata": hub["metadata"], "spec": _picked(spec, _SHARED_SPEC), "status": _picked(status, _SHARED_STATUS)}
    kept = [one for one in spec.get("metrics") or () if _cpu_target(one) is None]
    percentages = [one for one in map(_cpu_target, spec.get("metrics") or ()) if one is not None]
    if percentages:
        v1["spec"]["targetCPUUtilizationPercentage"] = percentages[0]
    for used in map(_cpu_use, status.get("currentMetrics") or ()):
        if used is not None:
            v1["status"]["currentCPUUtilizationPercentage"] = used
    _write(v1, _METRICS, [metrics.spec_to_v1(one) for one in kept])
    _write(v1, _STATES, [metrics.state_to_v1(one) for one in status.get("currentMetrics") or ()])
    if spec.get("behavior") is not None:
        _write(v1, _BEHAVIOR, internal.form("autoscaling.HorizontalPodAutoscalerBehavior", spec["behavior"]))
    _write(v1, _CONDITIONS, [metrics.condition(one) for one in status.get("conditions") or ()])
    return v1


def _write(v1: Object, annotation: str, value: Any) -> None:
    if value:
        annotations = v1["metadata"].get("annotations") or {}
        v1["metadata"]["annotations"] = {**annotations, annotation: orjson.dumps(value).decode()}


def _cpu_target(metric: Object) -> int | None:
    if metric.get("type") != "Resource" or objects.get(metric, "resource.name") != "cpu":
        return None
    found: int | None = objects.get(metric, "resource.target.averageUtilization")
    return found


def _cpu_use(state: Object) -> int | None:
    if state.get("type") != "Resource" or objects.get(state, "resource.name") != "cpu":
        return None
    found: int | None = objects.get(state, "resource.current.averageUtilization")
    return found


V1 = Conversion(to_hub=_to_hub, from_hub=_from_hub)
