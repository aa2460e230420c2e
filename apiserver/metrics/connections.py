"""Connections: metrics of the bounds on clients' connections, watches and unread requests.

kube-apiserver has no names for them.
"""

from collections.abc import Iterator, Mapping

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily


def of_watches(numbers: Mapping[str, int]) -> Iterator[AnyFamily]:
    """The families from the statistics of the writers of watches."""
    held = metric_families.gauge(
        "aio_apiserver_watch_held_bytes", "Bytes held for watch clients that have not read them."
    )
    held.of().set(numbers["bytes"])
    yield held
    stalled = metric_families.gauge("aio_apiserver_watches_stalled", "Watches whose connections take no bytes.")
    stalled.of().set(numbers["stalled"])
    yield stalled
    dropped = metric_families.counter(
        "aio_apiserver_watches_dropped_total", "Watches that were closed because stalled clients held too many bytes."
    )
    dropped.of().add(numbers["dropped"])
    yield dropped


def of_connections(numbers: Mapping[str, int], refused_watches: int) -> Iterator[AnyFamily]:
    """The families from the statistics of the connection limits, and the refused starts of watches."""
    present = metric_families.gauge("aio_apiserver_connections", "Open connections of the secure port.")
    present.of().set(numbers["open"])
    yield present
    refused = metric_families.counter(
        "aio_apiserver_connections_refused_total", "Connections above a limit, by limit.", labels=("limit",)
    )
    for limit in ("total", "address", "user"):
        refused.of(limit).add(numbers[f"refused_{limit}"])
    yield refused
    watches = metric_families.counter(
        "aio_apiserver_watch_starts_refused_total", "Watches of users who began too many at once."
    )
    watches.of().add(refused_watches)
    yield watches


def of_request_memory(
    heads: Mapping[str, int], requests: Mapping[str, int], objects: Mapping[str, int]
) -> Iterator[AnyFamily]:
    """The families from the statistics of long heads whose users are not known, of heads and bodies of users, and of
    the objects in bodies.
    """
    families = (
        metric_families.gauge(
            "aio_apiserver_request_memory_bytes",
            "Bytes of long heads without a user, of heads and bodies of requests, and of the objects in bodies.",
            labels=("memory",),
        ),
        metric_families.gauge(
            "aio_apiserver_request_memory_waiting", "Requests that wait for such memory.", labels=("memory",)
        ),
        metric_families.counter(
            "aio_apiserver_request_memory_refused_total",
            "Requests that were refused because they got no such memory.",
            labels=("memory",),
        ),
    )
    held, waiting, refused = families
    for name, numbers in (("heads", heads), ("requests", requests), ("objects", objects)):
        held.of(name).set(numbers["bytes"])
        waiting.of(name).set(numbers.get("waiting", 0))
        refused.of(name).add(numbers["refused"])
    yield from families
