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


def of_request_memory(of_heads: Mapping[str, int], of_users: Mapping[str, int]) -> Iterator[AnyFamily]:
    """The families from the statistics of long heads whose users are not known, and of the requests of users."""
    held = metric_families.gauge(
        "aio_apiserver_request_memory_bytes",
        "Bytes of long heads and of bodies that are read or served, by holder.",
        labels=("holder",),
    )
    held.of("connection").set(of_heads["bytes"])
    held.of("user").set(of_users["bytes"])
    yield held
    waiting = metric_families.gauge(
        "aio_apiserver_request_memory_waiting", "Requests that wait until their users may have more such bytes."
    )
    waiting.of().set(of_users["waiting"])
    yield waiting
    refused = metric_families.counter(
        "aio_apiserver_request_memory_refused_total",
        "Long heads and requests that were refused because there were too many such bytes, by holder.",
        labels=("holder",),
    )
    refused.of("connection").add(of_heads["refused"])
    refused.of("user").add(of_users["refused"])
    yield refused
