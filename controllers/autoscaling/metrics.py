"""Metrics: proposes the replicas for one metric of a HorizontalPodAutoscaler, by the type of the metric.

Metrics of objects and external metrics have one value for a whole target. Amounts are in thousandths.
"""

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.autoscaling import autoscaler_status, pod_usage
from aio_apiserver.controllers.autoscaling import sources as autoscaling_sources
from aio_apiserver.controllers.autoscaling.autoscaler_status import uses_average
from aio_apiserver.controllers.autoscaling.pod_usage import (
    AverageUtilization,
    AverageValue,
    Gauged,
    PodMetric,
    Proposal,
    Tolerances,
    Uncountable,
    UsageTarget,
)
from aio_apiserver.controllers.autoscaling.sources import MetricSources
from aio_apiserver.controllers.runtime.pods import phase, seconds
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.groups.core.pods.pod_conditions import is_ready
from aio_apiserver.registry.machinery.selectors import texts


class ScaledPods(Struct, frozen=True):
    """The pods of a target, and the replicas in the spec and in the status of its scale."""

    namespace: str
    selector: str
    pods: Sequence[Object]
    wanted: int
    present: int
    tolerances: Tolerances
    now: float

    def propose(
        self, metrics: Mapping[str, PodMetric], gauge: Callable[[], UsageTarget], *, is_cpu: bool = False
    ) -> Proposal:
        """The replicas for the metrics of single pods. Raises Uncountable."""
        return pod_usage.propose(
            self.wanted, self.pods, metrics, gauge, is_cpu=is_cpu, tolerances=self.tolerances, now=self.now
        )


async def proposal(sources: MetricSources, metric: Object, target: ScaledPods) -> Proposal:
    """The replicas for a metric. Raises Uncountable."""
    return await _BY_TYPE[metric["type"]](sources, metric, target)


async def _of_resource(sources: MetricSources, metric: Object, scaled: ScaledPods) -> Proposal:
    source = autoscaler_status.source_of(metric)
    resource, container, target = source["name"], source.get("container", ""), source["target"]
    try:
        metrics = await _measured(sources, scaled, resource, container)
        gauge = partial(_gauge, target, scaled.pods, resource, container)
        return scaled.propose(metrics, gauge, is_cpu=resource == "cpu")
    except Uncountable as exc:
        failed = "usage" if uses_average(metric) else "utilization"
        raise Uncountable(f"failed to get {resource} {failed}: {exc}") from exc


def _gauge(target: Mapping[str, Any], pods: Sequence[Object], resource: str, container: str) -> UsageTarget:
    if target.get("averageValue") is not None:
        return AverageValue(pod_usage.thousandths(target["averageValue"]))
    return AverageUtilization(target["averageUtilization"], pod_usage.requests(pods, resource, container))


async def _measured(
    sources: MetricSources, scaled: ScaledPods, resource: str, container: str
) -> Mapping[str, PodMetric]:
    """What the selected pods use of a resource, in all or in one container. Raises Uncountable."""
    failed = f"unable to get metrics for resource {resource}"
    try:
        found = await sources.resources(scaled.namespace, scaled.selector)
    except Uncountable as exc:
        raise Uncountable(f"{failed}: {exc}") from exc
    if not found:
        raise Uncountable(f"{failed}: no metrics returned from resource metrics API")
    with autoscaling_sources.well_formed(f"{failed}: "):
        return dict(_metrics(found, resource, container))


def _metrics(listed: Sequence[Object], resource: str, container: str) -> Iterator[tuple[str, PodMetric]]:
    """The metrics of pods that have them for each counted container."""
    for one in listed:
        counted = [part["usage"] for part in one["containers"] if container in ("", part["name"])]
        if counted and all(resource in usage for usage in counted):
            value = sum(pod_usage.thousandths(usage[resource]) for usage in counted)
            yield one["metadata"]["name"], PodMetric(value, seconds(one["timestamp"]), durations.parse(one["window"]))


async def _of_pods(sources: MetricSources, metric: Object, scaled: ScaledPods) -> Proposal:
    about, target = metric["pods"]["metric"], metric["pods"]["target"]
    try:
        values = await sources.of_pods(scaled.namespace, about, scaled.selector, scaled.pods)
    except Uncountable as exc:
        raise Uncountable(f"unable to get metric {about['name']}: {exc}") from exc
    metrics = {name: PodMetric(value, scaled.now, 0.0) for name, value in values.items()}
    return scaled.propose(metrics, lambda: AverageValue(pod_usage.thousandths(target["averageValue"])))


async def _of_object(sources: MetricSources, metric: Object, scaled: ScaledPods) -> Proposal:
    about, described = metric["object"]["metric"], metric["object"]["describedObject"]
    try:
        amount = await sources.of_object(scaled.namespace, about, described)
    except Uncountable as exc:
        # kube-controller-manager has the error and the object in this order.
        text = f"{described['kind']} on {scaled.namespace} {described['name']}/{exc}"
        raise Uncountable(f"unable to get metric {about['name']}: {text}") from exc
    return _of_amount(metric, amount, scaled)


async def _external(sources: MetricSources, metric: Object, scaled: ScaledPods) -> Proposal:
    about = metric["external"]["metric"]
    try:
        amount = total(await sources.external(scaled.namespace, about))
    except Uncountable as exc:
        which = f"{scaled.namespace}/{about['name']}/{texts.go_text(about.get('selector'))}"
        raise Uncountable(f"unable to get external metric {which}: {exc}") from exc
    return _of_amount(metric, amount, scaled)


def _of_amount(metric: Object, amount: int, scaled: ScaledPods) -> Proposal:
    target = autoscaler_status.source_of(metric)["target"]
    if uses_average(metric):
        average = pod_usage.thousandths(target["averageValue"])
        return for_average(amount, average, scaled.present, scaled.tolerances)
    value = pod_usage.thousandths(target["value"])
    return for_value(amount, value, scaled.wanted, scaled.pods, scaled.tolerances)


_BY_TYPE: Mapping[str, Callable[[MetricSources, Object, ScaledPods], Awaitable[Proposal]]] = {
    "Resource": _of_resource,
    "ContainerResource": _of_resource,
    "Pods": _of_pods,
    "Object": _of_object,
    "External": _external,
}


_MOST_REPLICAS = 2**31 - 1
_MOST_AMOUNT = 2**63 - 1


def for_value(amount: int, target: int, current: int, pods: Sequence[Object], tolerances: Tolerances) -> Proposal:
    """The replicas for a target of the value itself: the ready pods times the ratio. Raises Uncountable."""
    ratio = amount / target
    if tolerances.cover(ratio):
        return Proposal(current, Gauged(ratio, amount))
    if not pods:
        none = "no pods returned by selector while calculating replica count"
        raise Uncountable(f"unable to calculate ready pods: {none}")
    ready = sum(1 for pod in pods if phase(pod) == "Running" and is_ready(pod))
    return Proposal(min(math.ceil(ratio * ready), _MOST_REPLICAS), Gauged(ratio, amount))


def for_average(amount: int, target: int, pods: int, tolerances: Tolerances) -> Proposal:
    """The replicas for a target of the value divided by the number of pods."""
    ratio = amount / (target * pods) if pods else math.inf
    replicas = pods if tolerances.cover(ratio) else min(math.ceil(amount / target), _MOST_REPLICAS)
    return Proposal(replicas, Gauged(ratio, math.ceil(amount / max(pods, 1))))


def total(amounts: Sequence[int]) -> int:
    """The sum of values, as far as 64 bits hold it."""
    return min(sum(amounts), _MOST_AMOUNT)
