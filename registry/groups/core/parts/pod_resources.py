"""Resources of pods: what their containers request and may use, and what follows from it.

Pure sums of quantities. An ordinary init container runs before the others, so a pod needs the larger of both; one that
restarts (a sidecar) runs beside all that come after it.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.quantity import Quantity, QuantityFormat
from aio_apiserver.storage.stored_object import Object

_NANO = -9
_COMPUTE = ("cpu", "memory")
_HUGE_PAGES = "hugepages-"

Amounts = MutableMapping[str, Quantity]


def default_requests(spec: Object) -> None:
    """Containers request their limits when they do not say; then the pod as a whole what they add up to."""
    for name in ("containers", "initContainers"):
        for container in spec.get(name) or ():
            resources = container.get("resources")
            if resources and (limits := resources.get("limits")):
                resources["requests"] = {**limits, **(resources.get("requests") or {})}
    resources = spec.get("resources")
    if resources is not None:
        _default_huge_page_limits(spec, resources)
        _default_pod_requests(spec, resources)


def qos_class(spec: Object) -> str:
    """How well a pod is served when a node runs out: Guaranteed, Burstable or BestEffort."""
    requests: Amounts = {}
    limits: Amounts = {}
    is_guaranteed = True
    for resources in _counted_resources(spec):
        _add(requests, _compute(resources.get("requests")))
        limit = _compute(resources.get("limits"))
        _add(limits, limit)
        is_guaranteed = is_guaranteed and len(limit) == len(_COMPUTE)
    if not requests and not limits:
        return "BestEffort"
    is_equal = {name: one.nanos for name, one in requests.items()} == {name: one.nanos for name, one in limits.items()}
    return "Guaranteed" if is_guaranteed and is_equal else "Burstable"


def _counted_resources(spec: Object) -> Iterator[Mapping[str, Any]]:
    """The pod's own resources count instead of those of its containers."""
    own = spec.get("resources")
    if own is not None:
        yield own
        return
    for name in ("containers", "initContainers"):
        for container in spec.get(name) or ():
            yield container.get("resources") or {}


def _compute(amounts: Mapping[str, str] | None) -> Amounts:
    """What there is of processors and memory."""
    if not amounts:
        return {}
    parsed = {name: quantity.known(amounts[name]) for name in _COMPUTE if name in amounts}
    return {name: one for name, one in parsed.items() if one.digits > 0}


def _default_huge_page_limits(spec: Object, resources: Object) -> None:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    if not limits and not requests:
        return
    added = {
        name: str(amount)
        for name, amount in aggregate(spec, "limits").items()
        if name.startswith(_HUGE_PAGES) and name not in requests and name not in limits
    }
    if added:
        resources["limits"] = {**limits, **added}


def _default_pod_requests(spec: Object, resources: Object) -> None:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    if not limits:
        return
    aggregated = aggregate(spec, "requests")
    summed = {name: str(aggregated[name]) for name in _COMPUTE if name in aggregated}
    limited = {name: limits[name] for name in limits if name in _COMPUTE or name.startswith(_HUGE_PAGES)}
    if wanted := {**limited, **summed, **requests}:
        resources["requests"] = wanted


def aggregate(spec: Mapping[str, Any], which: str) -> Amounts:
    """What a pod needs at any time."""
    total: Amounts = {}
    for container in spec.get("containers") or ():
        _add(total, _amounts(container, which))
    sidecars: Amounts = {}
    at_start: Amounts = {}
    for container in spec.get("initContainers") or ():
        amounts = _amounts(container, which)
        if container.get("restartPolicy") == "Always":
            _add(total, amounts)
            _add(sidecars, amounts)
            amounts = sidecars
        else:
            _add(amounts, sidecars)
        _raise(at_start, amounts)
    _raise(total, at_start)
    return total


def _amounts(container: Mapping[str, Any], which: str) -> Amounts:
    amounts = (container.get("resources") or {}).get(which) or {}
    return {name: quantity.known(text) for name, text in amounts.items()}


def _add(total: Amounts, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        total[name] = _sum(total[name], amount) if name in total else amount


def _sum(one: Quantity, other: Quantity) -> Quantity:
    """A sum has the units of the first that is not zero."""
    form: QuantityFormat = one.format if one.digits else other.format
    return Quantity(one.nanos + other.nanos, _NANO, form)


def _raise(total: Amounts, least: Mapping[str, Quantity]) -> None:
    for name, amount in least.items():
        if name not in total or amount.nanos > total[name].nanos:
            total[name] = amount
