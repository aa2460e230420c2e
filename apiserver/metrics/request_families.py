"""Request families: the names, labels and buckets of request metrics, as in kube-apiserver."""

from collections.abc import Iterable

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Stability

_PLACE = ("group", "version", "resource", "subresource", "scope", "component")
_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60)
_INITIAL_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60)
_FINE_SECONDS = (0.005, 0.025, *_SECONDS)
_ANSWER_BYTES = tuple(10.0**power for power in range(3, 10))
_EVENT_BYTES = tuple(1024.0 * 2**power for power in range(8))
_BODY_BYTES = (50_000.0, *(50_000.0 + 100_000 * step for step in range(1, 31)))


class RequestFamilies:
    """All families of requests and watches."""

    def __init__(self) -> None:
        self.requests = metric_families.counter(
            "apiserver_request_total",
            "Requests by verb, dry run, group, version, resource, subresource, scope, component and HTTP status.",
            labels=("verb", "dry_run", *_PLACE, "code"),
            stability=Stability.STABLE,
        )
        self.durations = metric_families.histogram(
            "apiserver_request_duration_seconds",
            "How long requests took, by verb, dry run, group, version, resource, subresource, scope and component.",
            labels=("verb", "dry_run", *_PLACE),
            bounds=_FINE_SECONDS,
            stability=Stability.STABLE,
        )
        self.sizes = metric_families.histogram(
            "apiserver_response_sizes",
            "Sizes of answers to reading requests in bytes, by verb and what was read.",
            labels=("verb", *_PLACE),
            bounds=_ANSWER_BYTES,
            stability=Stability.STABLE,
        )
        self.bodies = metric_families.histogram(
            "apiserver_request_body_size_bytes",
            "Sizes of request bodies in bytes, by resource and verb.",
            labels=("group", "resource", "verb"),
            bounds=_BODY_BYTES,
        )
        self.running = metric_families.gauge(
            "apiserver_longrunning_requests",
            "Long-running requests that are open, by verb and what they are about.",
            labels=("verb", *_PLACE),
            stability=Stability.STABLE,
        )
        self.terminations = metric_families.counter(
            "apiserver_request_terminations_total",
            "Requests that the server has ended or refused to protect itself.",
            labels=("verb", *_PLACE, "code"),
        )
        self.deprecated = metric_families.gauge(
            "apiserver_requested_deprecated_apis",
            "Deprecated APIs that were asked for, and the release that has them no more.",
            labels=("group", "version", "resource", "subresource", "removed_release"),
            stability=Stability.STABLE,
        )
        self.events = metric_families.counter(
            "apiserver_watch_events_total",
            "Events that were sent to watching clients.",
            labels=("group", "version", "resource"),
        )
        self.event_sizes = metric_families.histogram(
            "apiserver_watch_events_sizes",
            "Sizes of events that were sent to watching clients, in bytes; those sent together count as equal.",
            labels=("group", "version", "resource"),
            bounds=_EVENT_BYTES,
        )

        self.initial = metric_families.histogram(
            "apiserver_watch_list_duration_seconds",
            "How long it took from a watch's request until its initial events were sent, by what was watched.",
            labels=("group", "version", "resource", "scope"),
            bounds=_INITIAL_SECONDS,
            stability=Stability.BETA,
        )

    def all(self) -> Iterable[AnyFamily]:
        """All families of this module."""
        yield from (self.requests, self.durations, self._levels(), self.sizes, self.bodies)
        yield from (self.running, self.terminations, self.deprecated, self.events, self.event_sizes, self.initial)

    def _levels(self) -> AnyFamily:
        """The durations again, for service level objectives: without dry runs, with fewer buckets."""
        family = metric_families.histogram(
            "apiserver_request_sli_duration_seconds",
            "How long requests took that were no dry runs, by verb and what they were about.",
            labels=("verb", *_PLACE),
            bounds=_SECONDS,
        )
        for (verb, dry_run, *place), durations in self.durations.series.items():
            if not dry_run:
                family.of(verb, *place).add(durations)
        return family
