"""Pods: the quota evaluator of pods. A pod that has ended uses nothing but its count. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import amounts, objects
from aio_apiserver.registry.base.amounts import Amounts
from aio_apiserver.registry.base.golang.quantity import Quantity
from aio_apiserver.registry.base.validation import resource_names
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.groups.core.namespaces import resourcequotas
from aio_apiserver.registry.groups.core.pods.parts import pod_resources
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.plugins.quota.evaluators import Scope, count_name, is_selected

_COUNT, _PLURAL = count_name(PODS.resource), PODS.plural
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_PREFIXED = frozenset(f"{prefix}.{name}" for prefix in ("requests", "limits") for name in _COMPUTE)
_NAMES = frozenset({_COUNT, _PLURAL, *_COMPUTE, *_PREFIXED})
_REQUIRED = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
"""Where a quota limits one of these, containers must specify it."""
_REQUESTS = "requests."
_HUGE_PAGES = ("hugepages-", "requests.hugepages-")
_DEVICE_CLASS = "deviceclass.resource.kubernetes.io/"
_OVER = frozenset({"Failed", "Succeeded"})
_TERMS = "DuringSchedulingIgnoredDuringExecution"


class Pods:
    """The evaluator of pods."""

    def handles(self, attributes: Attributes) -> bool:
        match attributes.subresource, attributes.operation:
            case "", Operation.CREATE:
                return True
            case "", Operation.UPDATE:
                return _is_terminating(attributes.obj or {}) != _is_terminating(attributes.old or {})
            case "resize", Operation.UPDATE:
                return True
            case _:
                return False

    def names(self, limited: Iterable[str]) -> list[str]:
        return [name for name in limited if name in _NAMES or name.startswith(_HUGE_PAGES) or _is_extended(name)]

    def is_in_scope(self, scope: Scope, obj: Object) -> bool:
        look = _SCOPES.get(scope.get("scopeName", ""))
        return look is not None and look(scope, obj)

    def missing(self, required: Collection[str], obj: Object) -> str:
        spec = obj["spec"]
        if _has_own_resources(spec):
            return ""
        lacking: dict[str, set[str]] = {}
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            resources = container.get("resources") or {}
            computed = _compute(amounts.parsed(resources.get("requests")), amounts.parsed(resources.get("limits")))
            for name in _REQUIRED.intersection(required) - computed.keys():
                lacking.setdefault(name, set()).add(container.get("name", ""))
        text = "; ".join(f"{name} for: {','.join(sorted(lacking[name]))}" for name in sorted(lacking))
        return f"must specify {text}" if text else ""

    def usage(self, obj: Object, *, now: float) -> Amounts:
        if _is_over(obj, now=now):
            return {_COUNT: amounts.ONE}
        spec = _with_status(obj)
        requests, limits = _total(spec, "requests"), _total(spec, "limits")
        for name, overhead in amounts.parsed(spec.get("overhead")).items():
            requests[name] = amounts.plus(requests.get(name, amounts.ZERO), overhead)
            if name in limits and limits[name].digits:
                limits[name] = amounts.plus(limits[name], overhead)
        return {_COUNT: amounts.ONE, **_compute(requests, limits)}


def _is_extended(name: str) -> bool:
    """Whether a resource name of a quota is an extended resource or a device class."""
    is_foreign = not resource_names.is_native(name) or name.startswith(_REQUESTS + _DEVICE_CLASS)
    return is_foreign and name.startswith(_REQUESTS)


def _compute(requests: Amounts, limits: Amounts) -> dict[str, Quantity]:
    """Requests and limits as resource names of a quota."""
    used = {_PLURAL: amounts.ONE}
    for name in _COMPUTE:
        if name in requests:
            used[name] = used[f"{_REQUESTS}{name}"] = requests[name]
        if name in limits:
            used[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if resource_names.is_huge_pages(name):
            used[name] = used[f"{_REQUESTS}{name}"] = amount
        elif resource_names.is_extended(name) or name.startswith(_DEVICE_CLASS):
            used[f"{_REQUESTS}{name}"] = amount
    return used


def _has_own_resources(spec: Mapping[str, Any]) -> bool:
    """Whether the pod has resources at pod level."""
    own = spec.get("resources") or {}
    return any(_is_of_pods(name) for member in ("requests", "limits") for name in own.get(member) or ())


def _is_of_pods(name: str) -> bool:
    return name in {"cpu", "memory"} or resource_names.is_huge_pages(name)


def _total(spec: Mapping[str, Any], member: str) -> dict[str, Quantity]:
    """The sum over the containers. Resources at pod level replace the sum."""
    own = amounts.parsed((spec.get("resources") or {}).get(member))
    return {
        **pod_resources.aggregate(spec, member),
        **{name: amount for name, amount in own.items() if _is_of_pods(name)},
    }


def _has_infeasible_resize(status: Mapping[str, Any]) -> bool:
    """Whether the kubelet reports that the node can never fulfil the resize of the pod."""
    return any(
        one.get("type") == "PodResizePending" and one.get("reason") == "Infeasible"
        for one in status.get("conditions") or ()
    )


def _with_status(pod: Object) -> Mapping[str, Any]:
    """The spec with the resources that containers have been given, where they are more than requested."""
    spec: Object = pod["spec"]
    status = pod.get("status") or {}
    given = {
        one.get("name"): one
        for member in ("containerStatuses", "initContainerStatuses")
        for one in status.get(member) or ()
        if one.get("resources") is not None
    }
    if not given:
        return spec
    is_infeasible = _has_infeasible_resize(status)

    def effective(container: Object, *, counts: bool) -> Object:
        found = given.get(container.get("name"))
        return _effective(container, found, is_infeasible=is_infeasible) if counts and found else container

    return {
        **spec,
        "containers": [effective(one, counts=True) for one in spec.get("containers") or ()],
        "initContainers": [
            effective(one, counts=one.get("restartPolicy") == "Always") for one in spec.get("initContainers") or ()
        ],
    }


def _effective(container: Object, given: Object, *, is_infeasible: bool) -> Object:
    wanted, actual = container.get("resources") or {}, given.get("resources") or {}
    requests = [actual.get("requests"), given.get("allocatedResources")]
    limits = [actual.get("limits")]
    if not is_infeasible:
        requests.append(wanted.get("requests"))
        limits.append(wanted.get("limits"))
    resources = {"requests": amounts.texts(_highest(requests)), "limits": amounts.texts(_highest(limits))}
    return {**container, "resources": resources}


def _highest(every: Iterable[Mapping[str, str] | None]) -> dict[str, Quantity]:
    highest: dict[str, Quantity] = {}
    for some in every:
        for name, amount in amounts.parsed(some).items():
            if name not in highest or amount.nanos > highest[name].nanos:
                highest[name] = amount
    return highest


def _is_over(pod: Object, *, now: float) -> bool:
    """Whether a pod has ended, or its grace period is over. A pod on a lost node uses nothing."""
    metadata = pod["metadata"]
    if objects.get(pod, "status.phase") in _OVER:
        return True
    ends, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    return ends is not None and grace is not None and now > datetime.fromisoformat(ends).timestamp() + grace


def _is_terminating(pod: Object) -> bool:
    deadline = objects.get(pod, "spec.activeDeadlineSeconds")
    return deadline is not None and deadline >= 0


def _is_best_effort(pod: Object) -> bool:
    known: str = objects.get(pod, "status.qosClass") or pod_resources.qos_class(pod["spec"])
    return known == "BestEffort"


def _has_priority_class(scope: Scope, pod: Object) -> bool:
    name = objects.get(pod, "spec.priorityClassName")
    return is_selected(scope, [name] if name else [])


def _looks_elsewhere(_scope: Scope, pod: Object) -> bool:
    """Whether its affinity terms select pods of other namespaces."""
    affinity = objects.get(pod, "spec.affinity", {})
    rules = [affinity.get(name) or {} for name in ("podAffinity", "podAntiAffinity")]
    terms = [term for rule in rules for term in rule.get(f"required{_TERMS}") or ()]
    terms += [one.get("podAffinityTerm") or {} for rule in rules for one in rule.get(f"preferred{_TERMS}") or ()]
    return any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms)


_SCOPES: Mapping[str, Callable[[Scope, Object], bool]] = {
    resourcequotas.TERMINATING: lambda _scope, pod: _is_terminating(pod),
    resourcequotas.NOT_TERMINATING: lambda _scope, pod: not _is_terminating(pod),
    resourcequotas.BEST_EFFORT: lambda _scope, pod: _is_best_effort(pod),
    resourcequotas.NOT_BEST_EFFORT: lambda _scope, pod: not _is_best_effort(pod),
    resourcequotas.PRIORITY_CLASS: _has_priority_class,
    resourcequotas.CROSS_NAMESPACE_POD_AFFINITY: _looks_elsewhere,
}
