"""Storage: metrics of storages and watch caches, from their statistics when a client reads the metrics.

It connects the counts of storage with the names of kube-apiserver. Must hold: reading changes nothing, and storage does
no work for it before.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Family, Stability
from aio_apiserver.storage.factory.measured_origin import Latencies

_GROUP_RESOURCE = ("group", "resource")


class _CacheNumber(NamedTuple):
    """A number of a cache: its family, and its path in the statistics."""

    name: str
    documentation: str
    path: str
    is_counter: bool = True
    stability: Stability = Stability.ALPHA


_OF_CACHES = (
    _CacheNumber("apiserver_resource_objects", "Objects in storage.", "objects", is_counter=False),
    _CacheNumber(
        "apiserver_resource_size_estimate_bytes", "Bytes of the objects in storage.", "bytes", is_counter=False
    ),
    _CacheNumber("watch_cache_capacity", "Changes that a watch cache can hold.", "window.capacity", is_counter=False),
    _CacheNumber("watch_cache_capacity_increase_total", "Times that a watch cache has grown.", "window.increases"),
    _CacheNumber("watch_cache_capacity_decrease_total", "Times that a watch cache has shrunk.", "window.decreases"),
    _CacheNumber(
        "apiserver_cache_list_returned_objects_total", "Objects in lists out of a watch cache.", "lists.returned"
    ),
    _CacheNumber(
        "apiserver_watch_cache_resource_version", "Resource version of a watch cache.", "revision", is_counter=False
    ),
    _CacheNumber(
        "apiserver_watch_cache_lag_revisions", "Revisions a watch cache is behind.", "lag.revisions", is_counter=False
    ),
    _CacheNumber(
        "apiserver_watch_cache_lag_seconds", "Seconds a watch cache is behind.", "lag.seconds", is_counter=False
    ),
    _CacheNumber(
        "apiserver_watch_cache_events_received_total", "Events that a watch cache has received.", "events_applied"
    ),
    _CacheNumber(
        "apiserver_watch_cache_events_dispatched_total", "Events that were handed to watchers.", "events_applied"
    ),
    _CacheNumber(
        "apiserver_watch_cache_initializations_total", "Times that a watch cache was filled.", "reflector.lists"
    ),
    _CacheNumber(
        "apiserver_storage_events_received_total",
        "Events that were received from storage.",
        "events_applied",
        stability=Stability.BETA,
    ),
    _CacheNumber("apiserver_init_events_total", "Objects that watches have begun with.", "watches.initial_events"),
    _CacheNumber(
        "etcd_bookmark_total", "Bookmarks of storage: times that it reported its revision.", "reflector.bookmarks"
    ),
    _CacheNumber(
        "apiserver_terminated_watchers_total",
        "Watchers that were ended because they were slow.",
        "watches.dropped_watchers",
    ),
)


_OF_QUOTAS = (
    ("aio_apiserver_storage_alarm", "Whether an embedded store is beyond its quota.", "alarm"),
    ("aio_apiserver_storage_quota_bytes", "The quota of an embedded store; 0 for none.", "quota_bytes"),
    ("aio_apiserver_storage_used_bytes", "Bytes of an embedded store that are in use.", "used_bytes"),
)
"""The families about quotas: name, documentation, and the statistic of the engine."""

_OF_LISTS = (
    ("apiserver_cache_list_total", "Lists that a watch cache has answered.", "lists.count"),
    (
        "apiserver_cache_list_fetched_objects_total",
        "Objects that a watch cache has looked at for lists.",
        "lists.fetched",
    ),
)


def of_requests(latencies: Latencies) -> Iterator[AnyFamily]:
    """The requests to the stores below the caches, for every storage engine."""
    yield Family("etcd_requests_total", "Requests to storage.", latencies.requests)
    yield Family("etcd_request_duration_seconds", "How long requests to storage took.", latencies.durations)
    yield Family("apiserver_storage_list_total", "Lists of storage.", latencies.lists)
    yield Family("apiserver_storage_list_returned_objects_total", "Objects in lists of storage.", latencies.returned)
    yield Family(
        "apiserver_storage_list_fetched_objects_total", "Objects read from storage for lists.", latencies.fetched
    )
    yield Family(
        "apiserver_storage_list_evaluated_objects_total",
        "Objects that were looked at for lists of storage.",
        latencies.examined,
    )
    yield Family(
        "apiserver_storage_decode_errors_total", "Stored objects that could not be read.", latencies.decode_errors
    )


def families(statistics: Callable[[], Mapping[str, Any]]) -> Iterator[AnyFamily]:
    """The families from the present statistics of a StorageFactory."""
    numbers = statistics()
    storages: Mapping[str, Mapping[str, Any]] = numbers["storages"]
    yield _sizes(numbers["backends"])
    yield from (_of_quotas(*one, numbers["backends"]) for one in _OF_QUOTAS)
    yield from (_lists(*one, storages) for one in _OF_LISTS)
    objects = metric_families.gauge(
        "apiserver_storage_objects", "Objects in storage.", labels=("resource",), stability=Stability.STABLE
    )
    for name, count in _values("objects", storages):
        objects.of(name).add(count)
    yield objects
    yield from (_family(one, storages) for one in _OF_CACHES)
    yield _consistent_reads(storages)
    windows = metric_families.gauge(
        "aio_apiserver_watch_cache_window_bytes", "Bytes of the past objects from which watches can resume."
    )
    windows.of().set(numbers["windows"]["bytes"])
    yield windows


def _of_quotas(name: str, documentation: str, statistic: str, backends: Mapping[str, Mapping[str, Any]]) -> AnyFamily:
    """A number about the quota of an embedded store. An etcd keeps its own."""
    family = metric_families.gauge(name, documentation, labels=("storage_cluster_id",))
    for number, backend in enumerate(backends.values()):
        if statistic in backend["kv"]:
            family.of(f"etcd-{number}").set(backend["kv"][statistic])
    return family


def _sizes(backends: Mapping[str, Mapping[str, Any]]) -> AnyFamily:
    """The sizes of the databases: the main storage is etcd-0, those of --etcd-servers-overrides follow."""
    family = metric_families.gauge(
        "apiserver_storage_size_bytes",
        "Bytes that storage takes.",
        labels=("storage_cluster_id",),
        stability=Stability.STABLE,
    )
    for number, backend in enumerate(backends.values()):
        if "bytes" in backend["kv"]:
            family.of(f"etcd-{number}").set(backend["kv"]["bytes"])
    return family


def _lists(name: str, documentation: str, path: str, storages: Mapping[str, Mapping[str, Any]]) -> AnyFamily:
    """The counts of lists. They used no index."""
    family = metric_families.counter(name, documentation, labels=("group", "index", "resource"))
    for of_storage, value in _values(path, storages):
        resource, _, group = of_storage.partition(".")
        family.of(group, "", resource).add(value)
    return family


def _family(number: _CacheNumber, storages: Mapping[str, Mapping[str, Any]]) -> AnyFamily:
    make = metric_families.counter if number.is_counter else metric_families.gauge
    family = make(number.name, number.documentation, labels=_GROUP_RESOURCE, stability=number.stability)
    for name, value in _values(number.path, storages):
        resource, _, group = name.partition(".")
        family.of(group, resource).add(value)
    return family


def _consistent_reads(storages: Mapping[str, Mapping[str, Any]]) -> AnyFamily:
    family = metric_families.counter(
        "apiserver_watch_cache_consistent_read_total",
        "Consistent reads that a watch cache has answered, or that fell back to storage.",
        labels=("fallback", "group", "resource", "success"),
    )
    fallbacks = dict(_values("reads.fallbacks", storages))
    for name, count in _values("reads.consistent_reads", storages):
        resource, _, group = name.partition(".")
        missed = fallbacks.get(name, 0)
        family.of("false", group, resource, "true").add(count - missed)
        if missed:
            family.of("true", group, resource, "false").add(missed)
    return family


def _values(path: str, storages: Mapping[str, Mapping[str, Any]]) -> Iterable[tuple[str, float]]:
    """The values at a path of the statistics, by resource. A resource with several views has several values."""
    for name, numbers in storages.items():
        found: Any = numbers
        for part in path.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        if found is not None:
            yield name.partition("/")[0], found
