"""pod_usage: from the measured usage of pods to the number of replicas that a horizontal pod autoscaler proposes.

Pure. Amounts are in thousandths, times in seconds. Must hold: pods without metrics, and pods that are not ready, leave
the direction in which the others point as it is.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import is_ending, phase, seconds
from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.groups.core.pods.parts import pod_resources

_START_SECONDS = 300.0
"""The seconds after a pod's start in which its CPU counts only while it is ready."""
_READINESS_SECONDS = 30.0
"""A pod that became unready in so many seconds after its start has never been ready."""
_WHOLE = 100

Amounts = Mapping[str, int]
"""By the names of pods."""


class Uncountable(Exception):
    """No number of replicas follows from the metrics."""


class PodMetric(Struct, frozen=True):
    """What one pod uses of one resource, measured over the window before a time."""

    value: int
    time: float
    window: float


class Tolerances(Struct, frozen=True):
    """The relative differences from the target that change nothing."""

    down: float = 0.1
    up: float = 0.1

    def cover(self, ratio: float) -> bool:
        return 1.0 - self.down <= ratio <= 1.0 + self.up


class Gauged(Struct, frozen=True):
    """The ratio of usage to target, the average of a pod, and its percentage of the requests, if the target is one."""

    ratio: float
    average: int
    utilization: int | None = None


class UsageTarget(Protocol):
    """Compares usage with a target."""

    def gauge(self, used: Amounts) -> Gauged:
        """Raises Uncountable."""
        ...

    def assumed(self, name: str) -> int:
        """The usage that a pod without metrics counts with before pods are removed."""
        ...


class AverageValue(Struct, frozen=True):
    """A target for the average of the pods."""

    target: int

    def gauge(self, used: Amounts) -> Gauged:
        average = sum(used.values()) // len(used)
        return Gauged(average / self.target, average)

    def assumed(self, _name: str) -> int:
        return self.target


class AverageUtilization(Struct, frozen=True):
    """A target in percent of the requests."""

    target: int
    requests: Amounts

    def gauge(self, used: Amounts) -> Gauged:
        known = [name for name in used if name in self.requests]
        requested, total = sum(self.requests[name] for name in known), sum(used[name] for name in known)
        if not requested:
            raise Uncountable("no metrics returned matched known pods")
        utilization = total * _WHOLE // requested
        return Gauged(utilization / self.target, total // len(known), utilization)

    def assumed(self, name: str) -> int:
        return self.requests[name] * max(_WHOLE, self.target) // _WHOLE


class Proposal(Struct, frozen=True):
    """A number of replicas, and the usage that it follows from."""

    replicas: int
    gauged: Gauged


class _Groups(Struct, frozen=True):
    ready: int
    unready: frozenset[str]
    missing: frozenset[str]
    ignored: frozenset[str]


def propose(
    current: int,
    pods: Sequence[Object],
    metrics: Mapping[str, PodMetric],
    make_gauge: Callable[[], UsageTarget],
    *,
    is_cpu: bool,
    tolerances: Tolerances,
    now: float,
) -> Proposal:
    """The replicas for one metric. Raises Uncountable."""
    if not pods:
        raise Uncountable("no pods returned by selector while calculating replica count")
    groups = _grouped(pods, metrics, is_cpu=is_cpu, now=now)
    used = {name: one.value for name, one in metrics.items() if name not in groups.ignored | groups.unready}
    if not used:
        raise Uncountable("did not receive metrics for targeted pods (pods might be unready)")
    gauge = make_gauge()
    found = gauge.gauge(used)
    if groups.missing or (groups.unready and found.ratio > 1):
        replicas = _cautious(current, used, groups, gauge, found.ratio, tolerances)
    else:
        replicas = current if tolerances.cover(found.ratio) else math.ceil(found.ratio * groups.ready)
    return Proposal(replicas, found)


def _cautious(
    current: int, used: Amounts, groups: _Groups, gauge: UsageTarget, ratio: float, tolerances: Tolerances
) -> int:
    """The replicas when pods without metrics count against the direction that the others point in."""
    counted = dict(used)
    if ratio < 1:
        counted |= {name: gauge.assumed(name) for name in groups.missing}
    elif ratio > 1:
        counted |= dict.fromkeys(groups.missing | groups.unready, 0)
    again = gauge.gauge(counted).ratio
    if tolerances.cover(again) or _differ(ratio, again):
        return current
    replicas = math.ceil(again * len(counted))
    turns = (again < 1 and replicas > current) or (again > 1 and replicas < current)
    return current if turns else replicas


def _differ(one: float, other: float) -> bool:
    return (one < 1 < other) or (other < 1 < one)


def _grouped(pods: Sequence[Object], metrics: Mapping[str, PodMetric], *, is_cpu: bool, now: float) -> _Groups:
    groups: dict[str, set[str]] = {"ready": set(), "unready": set(), "missing": set(), "ignored": set()}
    for pod in pods:
        name = pod["metadata"]["name"]
        groups[_group(pod, metrics.get(name), is_cpu=is_cpu, now=now)].add(name)
    ready = len(groups.pop("ready"))
    return _Groups(ready, **{name: frozenset(found) for name, found in groups.items()})


def _group(pod: Object, metric: PodMetric | None, *, is_cpu: bool, now: float) -> str:
    if is_ending(pod) or phase(pod) == "Failed":
        return "ignored"
    if phase(pod) == "Pending":
        return "unready"
    if metric is None:
        return "missing"
    return "unready" if is_cpu and _is_starting(pod, metric, now) else "ready"


def _is_starting(pod: Object, metric: PodMetric, now: float) -> bool:
    """Whether the CPU of a pod may still be that of its start."""
    status = pod["status"]
    condition, began = conditions.find(status, "Ready"), status.get("startTime")
    if condition is None or not began:
        return True
    is_unready, start, since = condition["status"] == "False", seconds(began), seconds(condition["lastTransitionTime"])
    if start + _START_SECONDS > now:
        return is_unready or metric.time < since + metric.window
    return is_unready and start + _READINESS_SECONDS > since


def requests(pods: Sequence[Object], resource: str, container: str = "") -> Amounts:
    """The requests of pods, or those of one container in each. Raises Uncountable."""
    return {pod["metadata"]["name"]: _request(pod, resource, container) for pod in pods}


def _request(pod: Object, resource: str, container: str) -> int:
    spec, name = pod["spec"], pod["metadata"]["name"]
    own = (spec.get("resources") or {}).get("requests")
    if own and not container:
        if resource in own:
            return thousandths(own[resource])
        found = pod_resources.aggregate(spec, "requests").get(resource)
        if found is None:
            raise Uncountable(f"missing pod-level request for {resource} in Pod {name}")
        return thousandths(str(found))
    sidecars = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    counted = [one for one in (*spec["containers"], *sidecars) if container in ("", one["name"])]
    if not counted:
        raise Uncountable(f"container {container} not found in Pod {name}")
    return sum(_request_of(one, resource, name) for one in counted)


def _request_of(container: Object, resource: str, pod: str) -> int:
    amount = ((container.get("resources") or {}).get("requests") or {}).get(resource)
    if amount is None:
        raise Uncountable(f"missing request for {resource} in container {container['name']} of Pod {pod}")
    return thousandths(amount)


def thousandths(amount: str) -> int:
    """A quantity in thousandths, rounded up."""
    return -(-quantity.parse_cached(amount).nanos // 10**6)
