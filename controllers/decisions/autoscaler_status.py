"""autoscaler_status: the status, conditions and texts of a horizontal pod autoscaler. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.controllers.decisions.pod_usage import Gauged, Tolerances
from aio_apiserver.registry.base import conditions, objects
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.quantity import MILLI, Quantity, QuantityFormat
from aio_apiserver.storage.stored_object import Object

ABLE, ACTIVE, LIMITED = "AbleToScale", "ScalingActive", "ScalingLimited"
_SOURCES: Mapping[str, str] = {"Resource": "resource", "ContainerResource": "containerResource"}


def report(status: Object, kind: str, *, is_true: bool, why: tuple[str, str], now: str) -> None:
    """Set a condition from its reason and message."""
    reason, message = why
    value = "True" if is_true else "False"
    conditions.put(status, {"type": kind, "status": value, "reason": reason, "message": message}, now=now)


def source_of(metric: Object) -> Object | None:
    """The source of a metric of resources; None for other metrics."""
    name = _SOURCES.get(metric["type"])
    return metric[name] if name is not None else None


def measured(metric: Object, gauged: Gauged) -> Object:
    """A metric's entry in the status."""
    name = _SOURCES[metric["type"]]
    source = metric[name]
    form = QuantityFormat.BINARY if source["name"] == "memory" else QuantityFormat.DECIMAL
    current: Object = {"averageValue": str(Quantity(gauged.average, MILLI, form))}
    if gauged.utilization is not None:
        current["averageUtilization"] = gauged.utilization
    named = {member: source[member] for member in ("name", "container") if member in source}
    return {"type": metric["type"], name: {**named, "current": current}}


UNMEASURED: Object = {"type": ""}
"""The entry of a metric without a value, as kube-controller-manager writes it."""


def metric_name(metric: Object) -> str:
    """A metric in the reasons of events."""
    source = source_of(metric) or {}
    if source["target"].get("averageValue") is not None:
        return f"{source['name']} resource"
    container = "container " if metric["type"] == "ContainerResource" else ""
    return f"{source['name']} {container}resource utilization (percentage of request)"


def failure(metric: Object, why: str) -> str:
    """The error of a metric among those of an autoscaler."""
    source = source_of(metric)
    if source is None:
        names: Mapping[str, Any] = metric.get("external") or {}
        of = objects.get(names, "metric.name", "") + " external metric" if names else f"{metric['type'].lower()} metric"
        return f"failed to get {of} value: {why}"
    if metric["type"] == "ContainerResource":
        return f"failed to get {source['container']} container metric value: {why}"
    return f"failed to get {source['name']} resource metric value: {why}"


def no_such_api(metric: Object) -> str:
    """Why metrics of pods, objects and other systems have no value: the server has no API for them."""
    name = objects.get(metric, f"{metric['type'].lower()}.metric.name", "")
    if metric["type"] == "External":
        return (
            f"unable to get external metric {name}: unable to fetch metrics from external metrics API: "
            "the server could not find the requested resource"
        )
    return (
        f"unable to get metric {name}: unable to fetch metrics from custom metrics API: "
        "no custom metrics API (custom.metrics.k8s.io) registered"
    )


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
