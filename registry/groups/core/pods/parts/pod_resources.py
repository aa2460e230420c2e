"""Pod resources: defaults, sums and QoS class from the requests and limits of containers.

Pure. An ordinary init container runs before the others, so a pod needs the larger of both. A restartable init container
(sidecar) runs beside all later containers.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.quantity import Quantity, QuantityFormat

_NANO = -9
_COMPUTE = ("cpu", "memory")
_HUGE_PAGES = "hugepages-"

Amounts = MutableMapping[str, Quantity]


def default_requests(spec: Object) -> None:
    """Set missing requests from the limits of each container, then the requests of the pod from the sums."""
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
    """The QoS class of a pod: Guaranteed, Burstable or BestEffort."""
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
    if not is_guaranteed:
        return "Burstable"
    is_equal = {name: one.nanos for name, one in requests.items()} == {name: one.nanos for name, one in limits.items()}
    return "Guaranteed" if is_equal else "Burstable"


def _counted_resources(spec: Object) -> Iterator[Mapping[str, Any]]:
    """The resources that decide the QoS class: those of the pod when it has them, else those of the containers."""
    own = spec.get("resources")
    if own is not None:
        yield own
        return
    for name in ("containers", "initContainers"):
        for container in spec.get(name) or ():
            yield container.get("resources") or {}


def _compute(amounts: Mapping[str, str] | None) -> Amounts:
    """The CPU and memory of requests or limits, without zeros."""
    if not amounts:
        return {}
    found: Amounts = {}
    for name in _COMPUTE:
        if name in amounts and (one := quantity.parse_cached(amounts[name])).digits > 0:
            found[name] = one
    return found


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
    """The requests or limits of the whole pod: the maximum over its start and its normal run."""
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
    return {name: quantity.parse_cached(text) for name, text in amounts.items()}


def _add(total: Amounts, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        total[name] = _sum(total[name], amount) if name in total else amount


def _sum(one: Quantity, other: Quantity) -> Quantity:
    """The sum of two quantities, in the format of the first one that is not zero."""
    form: QuantityFormat = one.format if one.digits else other.format
    return Quantity(one.nanos + other.nanos, _NANO, form)


def _raise(total: Amounts, least: Mapping[str, Quantity]) -> None:
    for name, amount in least.items():
        if name not in total or amount.nanos > total[name].nanos:
            total[name] = amount
