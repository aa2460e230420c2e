"""metric_history: the metrics that are different in some minors: their names, labels and stability.

The other modules of this folder name the metrics as the default minor does, and those that older minors had. The server
makes a view at its start. Pure. Must hold: a view changes no count, and a reset of what it shows resets the counts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct

from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Family, Stability, View
from aio_apiserver.base.measures import MetricKind, Series, Tally
from aio_apiserver.registry.base.timeline import ALWAYS, Dated, Lifetime, Version

Labels = dict[str, str]
Relabel = Callable[[Labels], Labels]


class _Shown(Struct, frozen=True, kw_only=True):
    """How a minor shows a family, where it is not as written."""

    name: str = ""
    kind: MetricKind | None = None
    relabel: Relabel | None = None


_AS_WRITTEN = _Shown()


def _since(version: Version) -> Lifetime:
    return Lifetime(since=version)


def _beta(version: Version) -> Dated[Stability]:
    return Dated({ALWAYS: Stability.ALPHA, version: Stability.BETA})


def _joined(name: str, labels: Labels) -> Labels:
    """Group and resource in one label: deployments.apps."""
    group, resource = labels.pop("group"), labels.pop("resource")
    return {**labels, name: f"{resource}.{group}" if group else resource}


def _from(storage: str, labels: Labels) -> Labels:
    """With the storage that a list came from."""
    return {**labels, "storage": storage}


def _indexed(labels: Labels) -> Labels:
    return {**labels, "storage": "etcd", "index": ""}


_AUTOMATIC = ("automatic_reload_last_timestamp_seconds", "automatic_reloads_total")
_CONFIGS = ("authentication", "authorization")
_LIFETIMES: Mapping[str, Lifetime] = {
    **{f"apiserver_{one}_config_controller_last_config_info": _since((1, 34)) for one in (*_CONFIGS, "encryption")},
    "apiserver_resource_objects": _since((1, 34)),
    "apiserver_resource_size_estimate_bytes": _since((1, 34)),
    "version_info": _since((1, 34)),
    "apiserver_impersonation_attempts_duration_seconds": _since((1, 36)),
    "apiserver_impersonation_attempts_total": _since((1, 36)),
    "apiserver_storage_objects": Lifetime(until=(1, 37)),
}
"""The minors that have a metric, where not all have it."""

_STABILITIES: Mapping[str, Dated[Stability]] = {
    **{f"apiserver_{one}_config_controller_{name}": _beta((1, 34)) for one in _CONFIGS for name in _AUTOMATIC},
    **{
        f"workqueue_{name}": _beta((1, 36))
        for name in (
            "adds_total",
            "depth",
            "longest_running_processor_seconds",
            "queue_duration_seconds",
            "retries_total",
            "unfinished_work_seconds",
            "work_duration_seconds",
        )
    },
    "apiserver_storage_events_received_total": _beta((1, 36)),
    "kubernetes_build_info": _beta((1, 36)),
    "apiserver_watch_list_duration_seconds": _beta((1, 36)),
    "apiserver_watch_events_sizes": _beta((1, 37)),
    "apiserver_watch_events_total": _beta((1, 37)),
    **{f"serviceaccount_{name}_tokens_total": _beta((1, 37)) for name in ("legacy", "stale", "valid")},
}

_LISTS = "apiserver_storage_list"
_FORMS: Mapping[str, Mapping[Lifetime, _Shown]] = {
    **{
        name: {Lifetime(until=(1, 34)): _Shown(relabel=partial(_joined, "resource"))}
        for name in (
            "apiserver_init_events_total",
            "apiserver_request_body_size_bytes",
            "apiserver_storage_decode_errors_total",
            "apiserver_storage_events_received_total",
            "apiserver_terminated_watchers_total",
            "apiserver_watch_cache_events_dispatched_total",
            "apiserver_watch_cache_events_received_total",
            "apiserver_watch_cache_initializations_total",
            "apiserver_watch_cache_resource_version",
            "watch_cache_capacity",
            "watch_cache_capacity_decrease_total",
            "watch_cache_capacity_increase_total",
        )
    },
    **{
        name: {Lifetime(until=(1, 34)): _Shown(relabel=partial(_joined, "type"))}
        for name in ("etcd_requests_total", "etcd_request_duration_seconds")
    },
    **{
        f"{_LISTS}_{name}": {
            Lifetime(until=(1, 34)): _Shown(relabel=partial(_joined, "resource")),
            _since((1, 37)): _Shown(relabel=relabel),
        }
        for name, relabel in (
            ("total", _indexed),
            ("fetched_objects_total", _indexed),
            ("evaluated_objects_total", partial(_from, "etcd")),
            ("returned_objects_total", partial(_from, "etcd")),
        )
    },
    **{
        f"apiserver_cache_list_{name}": {
            _since((1, 37)): _Shown(name=f"{_LISTS}_{name}", relabel=partial(_from, "watchcache"))
        }
        for name in ("total", "fetched_objects_total", "returned_objects_total")
    },
    "etcd_bookmark_total": {
        Lifetime(until=(1, 36)): _Shown(name="etcd_bookmark_counts", kind=MetricKind.GAUGE),
        Lifetime(until=(1, 34)): _Shown(
            name="etcd_bookmark_counts", kind=MetricKind.GAUGE, relabel=partial(_joined, "resource")
        ),
    },
}
"""Other names and labels. Of several lifetimes with a minor, the last row counts."""


def view_of(version: Version) -> View:
    """The families as a minor has them."""
    gone = {name for name, lifetime in _LIFETIMES.items() if not lifetime.has(version)}
    shown = {name: form for name, forms in _FORMS.items() for lifetime, form in forms.items() if lifetime.has(version)}
    stabilities = {name: dated.at(version) for name, dated in _STABILITIES.items()}

    def view(families: Iterable[AnyFamily]) -> Iterator[AnyFamily]:
        by_name: dict[str, AnyFamily] = {}
        for family in families:
            if family.name in gone:
                continue
            form = shown.get(family.name, _AS_WRITTEN)
            stability = stabilities.get(family.name, family.stability)
            name, tally = form.name or family.name, _tally(family, form)
            if name in by_name:
                tally = by_name[name].tally.joined(tally)
            is_same = tally is family.tally and stability is family.stability
            by_name[name] = family if is_same else Family(name, family.documentation, tally, stability)
        yield from by_name.values()

    return view


def _tally(family: AnyFamily, form: _Shown) -> Tally[Series]:
    """The counts of a family under the labels of a form."""
    relabel = form.relabel
    if relabel is None and form.kind is None:
        return family.tally

    def labels_of(values: Sequence[str]) -> Labels:
        labels = dict(zip(family.labels, values, strict=True))
        return labels if relabel is None else relabel(labels)

    names = sorted(labels_of([""] * len(family.labels)))
    return family.tally.relabelled(
        names, lambda values: tuple(labels_of(values)[name] for name in names), form.kind or family.kind
    )
