from aio_apiserver.apiserver.metrics.requests import MONITORED, RequestMetrics
from aio_apiserver.apiserver.wire.client_warnings import Warnings
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.request_info import resolve
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.storage.interface import WatchBatch, WatchEvent, WatchEventType


def values(metrics: RequestMetrics, name: str) -> dict[tuple[str, ...], float]:
    (family,) = [family for family in metrics.families() if family.name == name]
    return {labels: getattr(series, "value", 0) for labels, series in family.series.items()}


def empty() -> RequestMetrics:
    return RequestMetrics(ServedPaths({}, builtin(), ManualClock()), MONITORED)


def asking(path: str) -> RequestContext:
    return RequestContext("id", 0.0, Warnings(), info=resolve("GET", path, {}))


def test_what_the_server_ends_to_protect_itself_is_counted() -> None:
    metrics = empty()

    metrics.terminated(asking("/livez"), 429)

    ended = values(metrics, "apiserver_request_terminations_total")
    assert ended == {("GET", "", "", "", "/livez", "", "apiserver", "429"): 1}
    assert list(values(metrics, "apiserver_request_total").values()) == [1]


def test_requests_for_unserved_resources_have_no_labels() -> None:
    metrics = empty()

    for path in ("/nothing", "/api/v1/nothings", "/apis/a.example.com/v1/things/one"):
        metrics.terminated(asking(path), 429)

    assert not values(metrics, "apiserver_request_total")


def test_events_that_are_sent_together_count_as_equal() -> None:
    metrics = empty()
    watched = metrics.watch_recorder_of(asking("/api/v1/pods").info)

    mark = WatchEvent(WatchEventType.BOOKMARK, None, 1)

    watched.delivered(WatchBatch([mark] * 3), 6000)
    watched.delivered(WatchBatch([]), 10)

    (sizes,) = [family for family in metrics.families() if family.name == "apiserver_watch_events_sizes"]
    assert values(metrics, "apiserver_watch_events_total") == {("", "v1", "pods"): 3}
    assert [series.total for series in sizes.series.values() if hasattr(series, "total")] == [3]
