"""Requests: metrics of requests and watches: counts, durations, sizes, events.

The series of a request are looked up once for each set of labels. After that, a request costs a few additions. Must
hold: labels have values of served resources, not texts of clients. A request that a filter ends is counted by
`terminated`.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from aio_apiserver.apiserver.metrics.metric_families import AnyFamily
from aio_apiserver.apiserver.metrics.request_families import RequestFamilies
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.request_info import RequestInfo, Route
from aio_apiserver.apiserver.wire.urls import Query
from aio_apiserver.base.measures import Counter, Gauge, Histogram
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.storage.interface import WatchBatch

COMPONENT = "apiserver"
_APPLY = "application/apply-patch+yaml"
_APPLY_VERB = "APPLY"
_CONNECTED = frozenset({"log", "exec", "portforward", "attach", "proxy"})
_VERBS = {
    "get": "GET",
    "list": "LIST",
    "watch": "WATCH",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}
_METHODS = {"get": "GET", "head": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE"}
_SIZED = frozenset({"GET", "LIST"})
_DRY_RUNS = frozenset({(), ("All",)})

MONITORED: Mapping[str, str] = {
    "/healthz": "/healthz",
    "/livez": "/livez",
    "/readyz": "/readyz",
    "/openapi/v3": "openapi/v3",
}
"""The paths outside of the APIs that are counted, with the values of their label."""


class RequestLabels(NamedTuple):
    """The label values of a request."""

    verb: str
    group: str
    version: str
    resource: str
    subresource: str
    scope: str
    dry_run: str


_Key = tuple[str, str, str, str, str, str, str]


class RequestRecorder:
    """The series of one set of labels."""

    __slots__ = ("_codes", "_count_of", "_durations", "_sizes", "bodies", "labels", "running")

    def __init__(
        self,
        labels: Sequence[str],
        count_of: Callable[[int], Counter],
        durations: Histogram,
        sizes: Histogram | None,
        bodies: Histogram | None,
        running: Gauge | None,
    ) -> None:
        self.labels = labels
        self._count_of = count_of
        self._codes: dict[int, Counter] = {}
        self._durations = durations
        self._sizes = sizes
        self.bodies = bodies
        self.running = running

    def record(self, status: int, seconds: float, size: int) -> None:
        """A request has ended."""
        counter = self._codes.get(status) or self._counter(status)
        counter.value += 1
        self._durations.observe(seconds)
        if self._sizes is not None:
            self._sizes.observe(size)

    def count(self, status: int) -> None:
        """A request was answered."""
        self._counter(status).value += 1

    def _counter(self, status: int) -> Counter:
        counter = self._codes.get(status)
        if counter is None:
            counter = self._codes[status] = self._count_of(status)
        return counter


class WatchRecorder(NamedTuple):
    """The series of the watches of one resource."""

    events: Counter
    sizes: Histogram

    def delivered(self, batch: WatchBatch, size: int) -> None:
        """Events were sent to a client; `size` counts the bytes of all of them."""
        count = len(batch.events)
        self.events.value += count
        if count:
            sizes = self.sizes
            sizes.counts[bisect_left(sizes.bounds, size / count)] += count
            sizes.sum += size


class RequestMetrics:
    """The counts of one server. `paths`: the paths outside of the APIs that are counted, with the values of their
    label.
    """

    def __init__(self, served: ServedPaths, paths: Mapping[str, str]) -> None:
        self._served = served
        self._paths = paths
        self._recorders: dict[tuple[str, ...], RequestRecorder] = {}
        self._by_route: dict[Route, RequestRecorder] = {}
        """Those of requests whose labels depend on their route alone."""
        self._watches: dict[tuple[str, str, str], WatchRecorder] = {}
        self._families = RequestFamilies()

    def families(self) -> Iterable[AnyFamily]:
        """All families of this module."""
        return self._families.all()

    def recorder_of(self, info: RequestInfo, query: Query, content_type: str) -> RequestRecorder | None:
        """The series for a request; None when its resource or path is not served."""
        has_label = query or content_type
        return (None if has_label else self._by_route.get(info.route)) or self._find(info, query, content_type)

    def _find(self, info: RequestInfo, query: Query, content_type: str) -> RequestRecorder | None:
        place = _place_of(info, query, content_type) if info.is_resource else self._path_of(info)
        if place is None:
            return None
        recorder = self._recorders.get(place) or self._make(RequestLabels(*place))
        if recorder is not None and info.is_resource and not (query or content_type):
            self._by_route[info.route] = recorder
        return recorder

    def terminated(self, context: RequestContext, code: int) -> None:
        """The server has refused or cancelled a request to protect itself."""
        recorder = self.recorder_of(context.info, context.query, "")
        if recorder is not None:
            recorder.count(code)
            self._families.terminations.of(*recorder.labels, str(code)).add()

    def watch_recorder_of(self, info: RequestInfo) -> WatchRecorder:
        """The series for watch events of a served resource."""
        labels = info.group, info.version, info.resource
        recorder = self._watches.get(labels)
        if recorder is None:
            families = self._families
            recorder = WatchRecorder(families.events.of(*labels), families.event_sizes.of(*labels))
            self._watches[labels] = recorder
        return recorder

    def initial_events_of(self, info: RequestInfo, query: Query) -> Histogram:
        """The series for the durations of initial events of a served resource."""
        place = RequestLabels(*_place_of(info, query, ""))
        return self._families.initial.of(place.group, place.version, place.resource, place.scope)

    def _path_of(self, info: RequestInfo) -> _Key | None:
        name = self._paths.get(info.path)
        return None if name is None else (_METHODS.get(info.verb, "other"), "", "", "", name, "", "")

    def _make(self, place: RequestLabels) -> RequestRecorder | None:
        if place.resource and not self._is_served(place):
            return None
        families = self._families
        verb, *where, dry_run = place
        labels = (*where, COMPONENT)
        is_write = place.resource and verb not in _SIZED and verb != "WATCH"
        body = place.group, place.resource, _BODY_VERBS.get(verb, verb.lower())
        recorder = self._recorders[place] = RequestRecorder(
            (verb, *labels),
            lambda status: families.requests.of(verb, dry_run, *labels, str(status)),
            families.durations.of(verb, dry_run, *labels),
            families.sizes.of(verb, *labels) if verb in _SIZED else None,
            families.bodies.of(*body) if is_write else None,
            families.running.of(verb, *labels) if verb in {"WATCH", "CONNECT"} else None,
        )
        return recorder

    def _is_served(self, place: RequestLabels) -> bool:
        path = f"{place.resource}/{place.subresource}" if place.subresource else place.resource
        served = self._served.get((place.group, place.version, path))
        if served is not None and served.deprecation:
            labels = place.group, place.version, place.resource, place.subresource, served.removed_release
            self._families.deprecated.of(*labels).set(1)
        return served is not None


_BODY_VERBS = {"POST": "create", "PUT": "update", _APPLY_VERB: "patch"}


def _place_of(info: RequestInfo, query: Query, content_type: str) -> _Key:
    """The fields of RequestLabels as a plain tuple, which takes a third of the time."""
    verb, subresource = info.verb, info.subresource
    scope = "namespace" if info.namespace else "cluster"
    if len(info.parts) > 1 or verb == "create":
        scope = "resource"
    # The verb alone decides, but for some subresources and patches.
    usual = _VERBS.get(verb) if not subresource and verb != "patch" else None
    reported = usual or _reported(verb, subresource, content_type, "other")
    dry_run = _dry_run(query) if query else ""
    return reported, info.group, info.version, info.resource, subresource, scope, dry_run


def verb_of(method: str, info: RequestInfo, content_type: str) -> str:
    """The verb of a request in logs; for one without a resource, its HTTP method."""
    if info.is_resource:
        return _reported(info.verb, info.subresource, content_type, method)
    return _METHODS.get(info.verb, method)


def _reported(verb: str, subresource: str, content_type: str, otherwise: str) -> str:
    if subresource in _CONNECTED:
        return "CONNECT"
    if verb == "patch" and content_type == _APPLY:
        return _APPLY_VERB
    return _VERBS.get(verb, otherwise)


def _dry_run(query: Query) -> str:
    wanted = tuple(query.get("dryRun", ()))
    return "".join(wanted) if wanted in _DRY_RUNS else "invalid"
