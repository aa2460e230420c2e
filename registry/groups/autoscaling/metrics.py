"""Metrics: converts metrics between autoscaling/v2 and the form of v1, which annotations contain. Pure.

The members are in the order of v1.
"""

from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import quantity

_SOURCES = ("object", "pods", "resource", "containerResource", "external")
_REFERENCE = ("kind", "name", "apiVersion")


def spec_to_v1(metric: Object) -> Object:
    """The metric and its target in the form of v1."""
    shown: Object = {"type": metric.get("type", "")}
    for name in _SOURCES:
        if metric.get(name) is not None:
            shown[name] = _present(_spec_to_v1(name, metric[name]))
    return shown


def _spec_to_v1(name: str, source: Object) -> Object:
    target, metric = source.get("target") or {}, source.get("metric") or {}
    match name:
        case "object":
            return {
                "target": _reference(source.get("describedObject") or {}),
                "metricName": metric.get("name", ""),
                "targetValue": target.get("value", "0"),
                "selector": metric.get("selector"),
                "averageValue": target.get("averageValue"),
            }
        case "pods":
            return {
                "metricName": metric.get("name", ""),
                "targetAverageValue": target.get("averageValue", "0"),
                "selector": metric.get("selector"),
            }
        case "external":
            return {
                "metricName": metric.get("name", ""),
                "metricSelector": metric.get("selector"),
                "targetValue": target.get("value"),
                "targetAverageValue": target.get("averageValue"),
            }
        case _:
            return {
                "name": source.get("name", ""),
                "targetAverageUtilization": target.get("averageUtilization"),
                "targetAverageValue": target.get("averageValue"),
                "container": source.get("container", "") if name == "containerResource" else None,
            }


def spec_from_v1(metric: Object) -> Object:
    """The metric and its target from the form of v1."""
    found: Object = {"type": metric.get("type", "")}
    for name in _SOURCES:
        if metric.get(name) is not None:
            found[name] = _spec_from_v1(name, metric[name])
    return found


def _spec_from_v1(name: str, source: Object) -> Object:
    match name:
        case "object":
            average, value = source.get("averageValue"), source.get("targetValue") or "0"
            kind = "Value" if average is None else "AverageValue"
            is_shown = average is None or bool(quantity.parse(value).digits)
            target = {"type": kind, "value": value if is_shown else None, "averageValue": average}
            described = _reference(source.get("target") or {})
            return {"describedObject": described, "metric": _metric(source, "selector"), "target": target}
        case "pods":
            target = {"type": "AverageValue", "averageValue": source.get("targetAverageValue") or "0"}
            return {"metric": _metric(source, "selector"), "target": target}
        case "external":
            value = source.get("targetValue")
            kind = "AverageValue" if value is None else "Value"
            target = {"type": kind, "value": value, "averageValue": source.get("targetAverageValue")}
            return {"metric": _metric(source, "metricSelector"), "target": target}
        case _:
            use = source.get("targetAverageUtilization")
            kind = "AverageValue" if use is None else "Utilization"
            target = {"type": kind, "averageValue": source.get("targetAverageValue"), "averageUtilization": use}
            return {**_named(name, source), "target": target}


def state_to_v1(state: Object) -> Object:
    """The status of a metric in the form of v1."""
    shown: Object = {"type": state.get("type", "")}
    for name in _SOURCES:
        if state.get(name) is not None:
            shown[name] = _present(_state_to_v1(name, state[name]))
    return shown


def _state_to_v1(name: str, source: Object) -> Object:
    current, metric = source.get("current") or {}, source.get("metric") or {}
    match name:
        case "object":
            return {
                "target": _reference(source.get("describedObject") or {}),
                "metricName": metric.get("name", ""),
                "currentValue": current.get("value", "0"),
                "selector": metric.get("selector"),
                "averageValue": current.get("averageValue"),
            }
        case "pods":
            return {
                "metricName": metric.get("name", ""),
                "currentAverageValue": current.get("averageValue", "0"),
                "selector": metric.get("selector"),
            }
        case "external":
            return {
                "metricName": metric.get("name", ""),
                "metricSelector": metric.get("selector"),
                "currentValue": current.get("value", "0"),
                "currentAverageValue": current.get("averageValue"),
            }
        case _:
            return {
                "name": source.get("name", ""),
                "currentAverageUtilization": current.get("averageUtilization"),
                "currentAverageValue": current.get("averageValue", "0"),
                "container": source.get("container", "") if name == "containerResource" else None,
            }


def state_from_v1(state: Object) -> Object:
    """The status of a metric from the form of v1."""
    found: Object = {"type": state.get("type", "")}
    for name in _SOURCES:
        if state.get(name) is not None:
            found[name] = _state_from_v1(name, state[name])
    return found


def _state_from_v1(name: str, source: Object) -> Object:
    match name:
        case "object":
            current = {"value": source.get("currentValue") or "0", "averageValue": source.get("averageValue")}
            described = _reference(source.get("target") or {})
            return {"metric": _metric(source, "selector"), "current": current, "describedObject": described}
        case "pods":
            current = {"averageValue": source.get("currentAverageValue") or "0"}
            return {"metric": _metric(source, "selector"), "current": current}
        case "external":
            current = {
                "value": source.get("currentValue") or "0",
                "averageValue": source.get("currentAverageValue"),
            }
            return {"metric": _metric(source, "metricSelector"), "current": current}
        case _:
            current = {
                "averageValue": source.get("currentAverageValue") or "0",
                "averageUtilization": source.get("currentAverageUtilization"),
            }
            return {**_named(name, source), "current": current}


def condition(value: Object) -> Object:
    """A condition in the form of v1, where lastTransitionTime may be null."""
    shown = {
        "type": value.get("type", ""),
        "status": value.get("status", ""),
        "lastTransitionTime": value.get("lastTransitionTime"),
    }
    return {**shown, **{name: value[name] for name in ("reason", "message") if value.get(name)}}


def _named(name: str, source: Object) -> Object:
    found = {"name": source.get("name", "")}
    return {**found, "container": source.get("container", "")} if name == "containerResource" else found


def _metric(source: Object, selector: str) -> Object:
    return {"name": source.get("metricName", ""), "selector": source.get(selector)}


def _reference(reference: Object) -> Object:
    found = {name: reference.get(name, "") for name in _REFERENCE}
    return found if found["apiVersion"] else {name: found[name] for name in _REFERENCE[:2]}


def _present(members: dict[str, Any]) -> Object:
    return {name: value for name, value in members.items() if value is not None}
