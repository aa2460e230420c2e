"""HPA validation: validates the replicas, target, metrics and behaviour of a HorizontalPodAutoscaler. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.validation import domains, field, resource_names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_LABEL
from aio_apiserver.registry.groups.core.pods.replicationcontrollers import REPLICATIONCONTROLLERS

Part = Mapping[str, Any]

_LONGEST_PERIOD = 1800
_LONGEST_WINDOW = 3600
_SELECT_POLICIES = ("Disabled", "Max", "Min")
_POLICIES = ("Percent", "Pods")
_TARGETS = ("Utilization", "Value", "AverageValue")


def validate(spec: Part, old: Part | None = None, *, smallest: int) -> list[FieldError]:
    """The errors of a spec. `old` is the spec that an update replaces; some of its violations may stay.

    smallest: the smallest minReplicas.
    """
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    bound = 0 if old is not None and old.get("minReplicas") == 0 else smallest
    errors = []
    if least is not None and least < bound:
        errors.append(field.invalid("spec.minReplicas", least, f"must be greater than or equal to {bound}"))
    if most == 0:
        errors.append(field.required("spec.maxReplicas", "must be set and greater than 0"))
    elif most < 0:
        errors.append(field.invalid("spec.maxReplicas", most, "must be greater than or equal to 1"))
    if least is not None and most < least:
        errors.append(field.invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"))
    errors += _validate_target_ref(spec.get("scaleTargetRef") or {}, old)
    errors += _validate_metrics(spec, old)
    behavior = spec.get("behavior") or {}
    for name in ("scaleUp", "scaleDown"):
        if behavior.get(name) is not None:
            errors += _validate_rules(behavior[name], f"spec.behavior.{name}")
    return errors


def _validate_target_ref(reference: Part, old: Part | None) -> list[FieldError]:
    before = (old or {}).get("scaleTargetRef") or {}
    is_same = old is not None and all(
        before.get(name, "") == reference.get(name, "") for name in ("apiVersion", "kind")
    )
    needs_group = reference.get("kind") != REPLICATIONCONTROLLERS.kind
    return _validate_reference(reference, "spec.scaleTargetRef", needs_group=needs_group, checks_version=not is_same)


def _validate_reference(
    reference: Part, path: str, *, needs_group: bool, checks_version: bool = True
) -> list[FieldError]:
    errors = []
    for name in ("kind", "name"):
        here = f"{path}.{name}"
        errors += domains.validate_segment(reference[name], here) if reference.get(name) else [field.required(here)]
    version = reference.get("apiVersion") or ""
    why = _check_version(version, needs_group=needs_group) if checks_version else ""
    return [*errors, field.invalid(f"{path}.apiVersion", version, why)] if why else errors


def _check_version(version: str, *, needs_group: bool) -> str:
    if version.count("/") > 1:
        return f"unexpected GroupVersion string: {version}"
    has_group = version != "/" and bool(version.rpartition("/")[0])
    return "apiVersion must specify API group" if needs_group and not has_group else ""


def _validate_metrics(spec: Part, old: Part | None) -> list[FieldError]:
    metrics, errors = spec.get("metrics") or (), []
    checks_version = not any(_has_bad_version(metric) for metric in (old or {}).get("metrics") or ())
    for index, metric in enumerate(metrics):
        errors += _validate_metric(metric, f"spec.metrics[{index}]", checks_version=checks_version)
    scales_on_others = any(metric.get("type") in {"Object", "External"} for metric in metrics)
    if spec.get("minReplicas") == 0 and not scales_on_others:
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.append(field.forbidden("spec.metrics", why))
    return errors


def _has_bad_version(metric: Part) -> bool:
    described = (metric.get("object") or {}).get("describedObject") or {}
    return metric.get("type") == "Object" and bool(_check_version(described.get("apiVersion") or "", needs_group=False))


def _validate_metric(metric: Part, path: str, *, checks_version: bool) -> list[FieldError]:
    kind, errors = metric.get("type") or "", []
    if not kind:
        errors.append(field.required(f"{path}.type", "must specify a metric source type"))
    if kind not in _TYPES:
        errors.append(field.not_supported(f"{path}.type", kind, _TYPES))
    present = [name for name in _SOURCES if metric.get(name) is not None]
    for name in present[:1]:
        here = f"{path}.{name}"
        if name == "object":
            errors += _validate_described(metric[name], here, checks_version=checks_version)
        errors += _SOURCES[name](metric[name], here)
    expected = _TYPES.get(kind, "")
    if not expected:
        errors.append(field.not_supported(f"{path}.type", kind, _TYPES))
    elif expected not in present:
        errors.append(field.required(f"{path}.{expected}", "must populate information for the given metric source"))
    if len(present) != 1:
        why = "must populate the given metric source only"
        errors += [field.forbidden(f"{path}.{name}", why) for name in present if name != expected]
    return errors


def _validate_described(source: Part, path: str, *, checks_version: bool) -> list[FieldError]:
    described = source.get("describedObject") or {}
    return _validate_reference(described, f"{path}.describedObject", needs_group=False, checks_version=checks_version)


def _validate_object(source: Part, path: str) -> list[FieldError]:
    errors, target = _validate_identified(source, path), source.get("target") or {}
    if target.get("value") is None and target.get("averageValue") is None:
        errors.append(field.required(f"{path}.target.averageValue", "must set either a target value or averageValue"))
    return errors


def _validate_external(source: Part, path: str) -> list[FieldError]:
    errors, target = _validate_identified(source, path), source.get("target") or {}
    given = [name for name in ("value", "averageValue") if target.get(name) is not None]
    if not given:
        why = "must set either a target value for metric or a per-pod target"
        errors.append(field.required(f"{path}.target.averageValue", why))
    if len(given) == 2:
        why = "may not set both a target value for metric and a per-pod target"
        errors.append(field.forbidden(f"{path}.target.value", why))
    return errors


def _validate_pods(source: Part, path: str) -> list[FieldError]:
    errors, target = _validate_identified(source, path), source.get("target") or {}
    if target.get("averageValue") is None:
        errors.append(field.required(f"{path}.target.averageValue", "must specify a positive target averageValue"))
    return errors


def _validate_container_resource(source: Part, path: str) -> list[FieldError]:
    errors, name, container = [], source.get("name") or "", source.get("container") or ""
    if name:
        errors += resource_names.validate_container_name(name, f"{path}.name")
    else:
        errors.append(field.required(f"{path}.name", "must specify a resource name"))
    if container:
        errors += domains.validate_format(container, DNS1123_LABEL, f"{path}.container")
    else:
        errors.append(field.required(f"{path}.container", "must specify a container"))
    return errors + _validate_utilization(source, path)


def _validate_resource(source: Part, path: str) -> list[FieldError]:
    errors = [] if source.get("name") else [field.required(f"{path}.name", "must specify a resource name")]
    return errors + _validate_utilization(source, path)


def _validate_utilization(source: Part, path: str) -> list[FieldError]:
    target = source.get("target") or {}
    errors = _validate_target(target, f"{path}.target")
    given = [name for name in ("averageUtilization", "averageValue") if target.get(name) is not None]
    if not given:
        why = "must set either a target raw value or a target utilization"
        errors.append(field.required(f"{path}.target.averageUtilization", why))
    if len(given) == 2:
        why = "may not set both a target raw value and a target utilization"
        errors.append(field.forbidden(f"{path}.target.averageValue", why))
    return errors


def _validate_identified(source: Part, path: str) -> list[FieldError]:
    """The errors of a metric with a name and of its target."""
    name, here = (source.get("metric") or {}).get("name") or "", f"{path}.metric.name"
    errors = domains.validate_segment(name, here) if name else [field.required(here, "must specify a metric name")]
    return errors + _validate_target(source.get("target") or {}, f"{path}.target")


def _validate_target(target: Part, path: str) -> list[FieldError]:
    kind, errors = target.get("type") or "", []
    if not kind:
        errors.append(field.required(f"{path}.type", "must specify a metric target type"))
    if kind not in _TARGETS:
        errors.append(field.invalid_typed(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue"))
    given = [name for name in ("value", "averageValue") if target.get(name) is not None]
    errors += [
        field.invalid(f"{path}.{name}", target[name], "must be positive")
        for name in given
        if quantity.parse(target[name]).digits <= 0
    ]
    utilization = target.get("averageUtilization")
    if utilization is not None and utilization < 1:
        errors.append(field.invalid(f"{path}.averageUtilization", utilization, "must be greater than 0"))
    return errors


def _validate_rules(rules: Part, path: str) -> list[FieldError]:
    errors, window, policies = [], rules.get("stabilizationWindowSeconds"), rules.get("policies") or ()
    if window is not None and not 0 <= window <= _LONGEST_WINDOW:
        limit = "greater than or equal to zero" if window < 0 else f"less than or equal to {_LONGEST_WINDOW}"
        errors.append(field.invalid(f"{path}.stabilizationWindowSeconds", window, f"must be {limit}"))
    policy = rules.get("selectPolicy")
    if policy is not None and policy not in _SELECT_POLICIES:
        errors.append(field.not_supported(f"{path}.selectPolicy", policy, _SELECT_POLICIES))
    if not policies:
        errors.append(field.required(f"{path}.policies", "must specify at least one Policy"))
    for index, one in enumerate(policies):
        errors += _validate_policy(one, f"{path}.policies[{index}]")
    tolerance = rules.get("tolerance")
    if tolerance is not None and quantity.parse(tolerance).digits < 0:
        errors.append(field.invalid(f"{path}.tolerance", tolerance, "must be greater than or equal to 0"))
    return errors


def _validate_policy(policy: Part, path: str) -> list[FieldError]:
    errors, kind, period = [], policy.get("type") or "", policy.get("periodSeconds") or 0
    if kind not in _POLICIES:
        errors.append(field.not_supported(f"{path}.type", kind, _POLICIES))
    errors += [
        field.invalid(f"{path}.{name}", policy.get(name) or 0, "must be greater than zero")
        for name in ("value", "periodSeconds")
        if (policy.get(name) or 0) <= 0
    ]
    if period > _LONGEST_PERIOD:
        why = f"must be less than or equal to {_LONGEST_PERIOD}"
        errors.append(field.invalid(f"{path}.periodSeconds", period, why))
    return errors


_TYPES = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_SOURCES: Mapping[str, Callable[[Part, str], list[FieldError]]] = {
    "object": _validate_object,
    "external": _validate_external,
    "pods": _validate_pods,
    "resource": _validate_resource,
    "containerResource": _validate_container_resource,
}
"""The sources in the order of validation. The first source is validated."""
