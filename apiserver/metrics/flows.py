"""Flows: metrics of the requests of each priority level and flow schema."""

from collections.abc import Iterator

from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Family, Stability
from aio_apiserver.registry.plugins.flowcontrol.flow_metrics import FlowMetrics

PREFIX = "apiserver_flowcontrol_"


def families(counted: FlowMetrics) -> Iterator[AnyFamily]:
    """All families of one server."""
    yield Family(
        f"{PREFIX}dispatched_requests_total", "Requests that were executed.", counted.dispatched, Stability.BETA
    )
    yield Family(
        f"{PREFIX}rejected_requests_total",
        "Requests that were refused, by reason.",
        counted.rejected,
        Stability.BETA,
    )
    yield Family(
        f"{PREFIX}current_executing_requests",
        "Requests that are being executed, watches until they have begun.",
        counted.executing,
        Stability.BETA,
    )
    yield Family(
        f"{PREFIX}current_executing_seats",
        "Seats that are taken, by watches until they have begun.",
        counted.executing_seats,
        Stability.BETA,
    )
    yield Family(f"{PREFIX}current_inqueue_requests", "Requests that are queued.", counted.in_queues, Stability.BETA)
    yield Family(f"{PREFIX}current_inqueue_seats", "Seats that queued requests need.", counted.seats_in_queues)
    yield Family(
        f"{PREFIX}request_queue_length_after_enqueue",
        "Length of the queue when a request was queued, the request included.",
        counted.queue_lengths,
    )
    yield Family(
        f"{PREFIX}request_wait_duration_seconds",
        "How long requests waited, by whether they were executed.",
        counted.waiting,
        Stability.BETA,
    )
    yield Family(
        f"{PREFIX}request_execution_seconds",
        "Execution time of requests, of watches until they had begun.",
        counted.execution,
    )
    yield Family(f"{PREFIX}work_estimated_seats", "Estimated seats of requests.", counted.seats)
    yield Family(f"{PREFIX}watch_count_samples", "Number of watches that get the event of a write.", counted.watches)
    yield Family(
        f"{PREFIX}request_dispatch_no_accommodation_total",
        "Times that the next request needed more seats than were free.",
        counted.not_accommodated,
    )
