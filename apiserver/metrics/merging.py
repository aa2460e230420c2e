"""Merging: the metrics of several workers as those of one server.

Pure. Counters and histograms are added. So are gauges of what each worker has. Of a gauge that all workers see alike,
the largest or the smallest value counts.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import orjson

from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Family, Stability
from aio_apiserver.base import measures
from aio_apiserver.base.measures import Histogram, MetricKind, Series

_FLOWS = "apiserver_flowcontrol_"
LARGEST = frozenset(
    {
        "aggregator_unavailable_apiservice",
        "aio_apiserver_storage_alarm",
        "aio_apiserver_storage_quota_bytes",
        "aio_apiserver_storage_used_bytes",
        "apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds",
        "apiserver_authentication_config_controller_last_config_info",
        "apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds",
        "apiserver_authorization_config_controller_last_config_info",
        "apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds",
        "apiserver_encryption_config_controller_last_config_info",
        f"{_FLOWS}current_r",
        f"{_FLOWS}demand_seats_stdev",
        f"{_FLOWS}dispatch_r",
        f"{_FLOWS}latest_s",
        f"{_FLOWS}seat_fair_frac",
        "apiserver_requested_deprecated_apis",
        "apiserver_resource_objects",
        "apiserver_resource_size_estimate_bytes",
        "apiserver_storage_objects",
        "apiserver_storage_size_bytes",
        "apiserver_watch_cache_lag_revisions",
        "apiserver_watch_cache_lag_seconds",
        "kube_apiserver_clusterip_allocator_allocated_ips",
        "kube_apiserver_nodeport_allocator_allocated_ports",
        "kubernetes_build_info",
        "kubernetes_feature_enabled",
        "python_info",
        "version_info",
        "watch_cache_capacity",
        "workqueue_longest_running_processor_seconds",
    }
)
SMALLEST = frozenset(
    {
        "apiserver_watch_cache_resource_version",
        "kube_apiserver_clusterip_allocator_available_ips",
        "kube_apiserver_nodeport_allocator_available_ports",
        "kubernetes_healthcheck",
        "process_max_fds",
        "process_start_time_seconds",
    }
)
SUMMED = frozenset(
    {
        "aio_apiserver_connections",
        "aio_apiserver_request_memory_bytes",
        "aio_apiserver_request_memory_waiting",
        "aio_apiserver_watch_cache_window_bytes",
        "aio_apiserver_watch_held_bytes",
        "aio_apiserver_watches_stalled",
        "apiserver_current_inflight_requests",
        "apiserver_current_inqueue_requests",
        *(
            f"{_FLOWS}{name}"
            for name in (
                "current_executing_requests",
                "current_executing_seats",
                "current_inqueue_requests",
                "current_inqueue_seats",
                "current_limit_seats",
                "demand_seats_average",
                "demand_seats_high_watermark",
                "demand_seats_smoothed",
                "lower_limit_seats",
                "nominal_limit_seats",
                "target_seats",
                "upper_limit_seats",
            )
        ),
        "apiserver_longrunning_requests",
        "process_open_fds",
        "process_resident_memory_bytes",
        "process_virtual_memory_bytes",
        "workqueue_depth",
        "workqueue_unfinished_work_seconds",
    }
)
"""The gauges by what they mean for all workers. A test holds that each gauge is in one of the three."""

Plain = Sequence[Any]
"""A family as JSON: name, documentation, stability, kind, labels, bounds of histograms, series."""


def dump(families: Iterable[AnyFamily]) -> bytes:
    """The families of one worker as bytes."""
    return orjson.dumps([_plain(family) for family in families])


def merged(dumps: Iterable[bytes]) -> Sequence[AnyFamily]:
    """The families of all workers from their dumps."""
    plains: dict[str, Plain] = {}
    values: dict[str, dict[tuple[str, ...], Any]] = {}
    for plain in (plain for one in dumps for plain in orjson.loads(one)):
        name, series = plain[0], plain[-1]
        if name not in plains or not plains[name][-1]:
            plains[name] = plain  # a histogram without series has no bounds
        combine = _combination(plain)
        together = values.setdefault(name, {})
        for labels, value in ((tuple(labels), value) for labels, value in series):
            together[labels] = combine(together[labels], value) if labels in together else value
    return [_family(plain, values[name]) for name, plain in plains.items()]


def of_gauge(name: str) -> Callable[[float, float], float]:
    """How the values of a gauge of two workers make one."""
    if name in LARGEST:
        return max
    return min if name in SMALLEST else operator.add


def _plain(family: AnyFamily) -> Plain:
    series = [(labels, _value(one)) for labels, one in family.series.items()]
    bounds = next((one.bounds for one in family.series.values() if isinstance(one, Histogram)), ())
    return family.name, family.documentation, family.stability.value, family.kind.value, family.labels, bounds, series


def _value(series: Series) -> Any:
    return [series.counts, series.sum] if isinstance(series, Histogram) else series.value


def _combination(plain: Plain) -> Callable[[Any, Any], Any]:
    name, kind = plain[0], plain[3]
    if kind == MetricKind.HISTOGRAM.value:
        return _both
    return of_gauge(name) if kind == MetricKind.GAUGE.value else operator.add


def _both(one: Any, other: Any) -> Any:
    """The counts and the sum of two histograms with the same bounds."""
    counts = [left + right for left, right in zip(one[0], other[0], strict=True)]
    return [counts, one[1] + other[1]]


def _family(plain: Plain, values: Mapping[tuple[str, ...], Any]) -> AnyFamily:
    name, documentation, stability, kind, labels, bounds, _ = plain
    if kind == MetricKind.HISTOGRAM.value:
        histograms = measures.histograms(*labels, bounds=bounds)
        for series, (counts, total) in values.items():
            histograms.of(*series).counts, histograms.of(*series).sum = counts, total
        return Family(name, documentation, histograms, Stability(stability))
    numbers = measures.gauges(*labels) if kind == MetricKind.GAUGE.value else measures.counters(*labels)
    for series, value in values.items():
        numbers.of(*series).value = value
    return Family(name, documentation, numbers, Stability(stability))
