"""autoscaler_status: the status, conditions and texts of a horizontal pod autoscaler. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.autoscaling.pod_usage import Gauged, Tolerances
from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.quantity import MILLI, Quantity, QuantityFormat
from aio_apiserver.registry.machinery.selectors import texts

ABLE, ACTIVE, LIMITED = "AbleToScale", "ScalingActive", "ScalingLimited"
_NAMING = ("name", "container", "metric", "describedObject")
"""The members of a metric that its entry in the status repeats."""


def report(status: Object, kind: str, *, is_true: bool, why: tuple[str, str], now: str) -> None:
    """Set a condition from its reason and message."""
    reason, message = why
    value = "True" if is_true else "False"
    conditions.put(status, {"type": kind, "status": value, "reason": reason, "message": message}, now=now)


def source_of(metric: Object) -> Object:
    """The part of a metric that belongs to its type."""
    source: Object = metric[_member(metric)]
    return source


def _member(metric: Object) -> str:
    name = str(metric["type"])
    return name[0].lower() + name[1:]


def uses_average(metric: Object) -> bool:
    """Whether the target is an average of the pods: not a percentage, and not a value for all of them."""
    target: Object = source_of(metric)["target"]
    if metric["type"] == "Object" and target.get("type") == "Value":
        return False
    return target.get("averageValue") is not None


def measured(metric: Object, gauged: Gauged) -> Object:
    """A metric's entry in the status."""
    source = source_of(metric)
    form = QuantityFormat.BINARY if source.get("name") == "memory" else QuantityFormat.DECIMAL
    is_average = uses_average(metric) or gauged.utilization is not None
    amount = str(Quantity(gauged.average, MILLI, form))
    current: Object = {"averageValue" if is_average else "value": amount}
    if gauged.utilization is not None:
        current["averageUtilization"] = gauged.utilization
    named = {member: source[member] for member in _NAMING if member in source}
    return {"type": metric["type"], _member(metric): {**named, "current": current}}


UNMEASURED: Object = {"type": ""}
"""The entry of a metric without a value, as kube-controller-manager writes it."""


def metric_name(metric: Object) -> str:
    """A metric in the reasons of events."""
    source, kind = source_of(metric), metric["type"]
    if kind == "Pods":
        return f"pods metric {source['metric']['name']}"
    if kind == "Object" and not uses_average(metric):
        return f"{source['describedObject']['kind']} metric {source['metric']['name']}"
    if kind in ("Object", "External"):
        return f"external metric {source['metric']['name']}({texts.go_text(source['metric'].get('selector'))})"
    if uses_average(metric):
        return f"{source['name']} resource"
    container = "container " if kind == "ContainerResource" else ""
    return f"{source['name']} {container}resource utilization (percentage of request)"


def failure(metric: Object, why: str) -> str:
    """The error of a metric among those of an autoscaler."""
    source = source_of(metric)
    name = (source.get("metric") or source)["name"]
    is_average = uses_average(metric)
    match metric["type"]:
        case "Pods":
            return f"failed to get pods metric value: {why}"
        case "Object":
            return f"failed to get object metric value: {f'failed to get {name} object metric: ' * is_average}{why}"
        case "External":
            which = f"{name} external metric" if is_average else f"external metric {name}"
            return f"failed to get {name} external metric value: failed to get {which}: {why}"
        case "ContainerResource":
            return f"failed to get {source['container']} container metric value: {why}"
        case _:
            return f"failed to get {name} resource metric value: {why}"


def tolerances(behavior: Mapping[str, Any] | None) -> Tolerances:
    """The tolerances of a behavior; a tenth where it states none."""
    usual = Tolerances()
    stated = [((behavior or {}).get(name) or {}).get("tolerance") for name in ("scaleDown", "scaleUp")]
    down, up = (quantity.parse_cached(one).nanos / 10**9 if one is not None else None for one in stated)
    return Tolerances(usual.down if down is None else down, usual.up if up is None else up)


def finished(status: Object, current: int, desired: int, metrics: Sequence[Object], scale_time: str | None) -> Object:
    """The status with its numbers. `scale_time`: the time when the replicas were changed just now."""
    found: Object = {
        "currentReplicas": current,
        "desiredReplicas": desired,
        "currentMetrics": list(metrics),
        "conditions": status.get("conditions") or [],
    }
    last = scale_time or status.get("lastScaleTime")
    return {**found, "lastScaleTime": last} if last else found
