"""autoscaling_metrics: asks metrics.k8s.io what pods use, and proposes the replicas for one metric of an autoscaler."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from aio_apiserver.controllers.autoscaling_targets import Selects
from aio_apiserver.controllers.decisions import autoscaler_status, pod_usage
from aio_apiserver.controllers.decisions.pod_usage import (
    AverageUtilization,
    AverageValue,
    PodMetric,
    Proposal,
    Uncountable,
    UsageTarget,
)
from aio_apiserver.controllers.decisions.pods import seconds
from aio_apiserver.controllers.runtime.client import ControllerClient, NotServed
from aio_apiserver.controllers.runtime.places import POD_METRICS
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.storage.stored_object import Object

_NOT_SERVED = "the server could not find the requested resource (get pods.metrics.k8s.io)"


async def proposal(
    client: ControllerClient,
    autoscaler: Object,
    metric: Object,
    current: int,
    pods: Sequence[Object],
    selects: Selects,
    *,
    now: float,
) -> Proposal:
    """The replicas for a metric. Raises Uncountable."""
    source = autoscaler_status.source_of(metric)
    if source is None:
        raise Uncountable(autoscaler_status.no_such_api(metric))
    resource, container, target = source["name"], source.get("container", ""), source["target"]
    is_plain = target.get("averageValue") is not None
    try:
        metrics = await _measured(client, autoscaler["metadata"]["namespace"], selects, resource, container)
        return pod_usage.propose(
            current,
            pods,
            metrics,
            partial(_gauge, target, pods, resource, container),
            is_cpu=resource == "cpu",
            tolerances=autoscaler_status.tolerances(autoscaler["spec"].get("behavior")),
            now=now,
        )
    except Uncountable as exc:
        raise Uncountable(f"failed to get {resource} {'usage' if is_plain else 'utilization'}: {exc}") from exc


def _gauge(target: Mapping[str, Any], pods: Sequence[Object], resource: str, container: str) -> UsageTarget:
    if target.get("averageValue") is not None:
        return AverageValue(pod_usage.thousandths(target["averageValue"]))
    return AverageUtilization(target["averageUtilization"], pod_usage.requests(pods, resource, container))


async def _measured(
    client: ControllerClient, namespace: str, selects: Selects, resource: str, container: str
) -> Mapping[str, PodMetric]:
    """What the selected pods use of a resource, in all or in one container. Raises Uncountable."""
    failed = f"unable to get metrics for resource {resource}"
    try:
        listed = await client.list(POD_METRICS, namespace)
    except errors.StatusError as exc:
        why = _NOT_SERVED if isinstance(exc, NotServed) else str(exc)
        raise Uncountable(f"{failed}: unable to fetch metrics from resource metrics API: {why}") from exc
    found = [one for one in listed if selects(one["metadata"].get("labels") or {})]
    if not found:
        raise Uncountable(f"{failed}: no metrics returned from resource metrics API")
    return dict(_metrics(found, resource, container))


def _metrics(listed: Sequence[Object], resource: str, container: str) -> Iterator[tuple[str, PodMetric]]:
    """The metrics of pods that have them for each counted container."""
    for one in listed:
        counted = [part["usage"] for part in one["containers"] if container in ("", part["name"])]
        if counted and all(resource in usage for usage in counted):
            value = sum(pod_usage.thousandths(usage[resource]) for usage in counted)
            yield one["metadata"]["name"], PodMetric(value, seconds(one["timestamp"]), durations.parse(one["window"]))
