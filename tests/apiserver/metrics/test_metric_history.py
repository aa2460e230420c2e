"""Metrics that are different in some minors."""

from collections.abc import Iterable

import pytest

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Measures, Stability
from aio_apiserver.apiserver.metrics.metric_history import view_of
from aio_apiserver.registry.base.timeline import Version


def shown(version: Version, families: Iterable[AnyFamily]) -> dict[str, dict[tuple[str, ...], float]]:
    measures = Measures(view_of(version))
    measures.ask(lambda: families)
    return {
        family.name: {values: getattr(series, "value", 0) for values, series in family.series.items()}
        for family in measures.families()
    }


@pytest.mark.parametrize(
    ("name", "first", "until"),
    [
        ("version_info", (1, 34), (1, 38)),
        ("apiserver_impersonation_attempts_total", (1, 36), (1, 38)),
        ("apiserver_storage_objects", (1, 33), (1, 37)),
        ("apiserver_cache_list_total", (1, 33), (1, 37)),
        ("etcd_bookmark_total", (1, 36), (1, 38)),
    ],
)
def test_a_minor_has_the_metrics_of_its_time(name: str, first: Version, until: Version) -> None:
    labels = ("group", "index", "resource") if "list" in name else ("group", "resource")
    has = {
        minor
        for minor in range(33, 38)
        if name in shown((1, minor), [metric_families.counter(name, "", labels=labels)])
    }

    assert has == set(range(first[1], until[1]))


def test_the_metric_of_bookmarks_has_its_old_name() -> None:
    bookmarks = metric_families.counter("etcd_bookmark_total", "", labels=("group", "resource"))
    bookmarks.of("apps", "deployments").add(2)

    assert shown((1, 33), [bookmarks]) == {"etcd_bookmark_counts": {("deployments.apps",): 2}}
    assert shown((1, 35), [bookmarks]) == {"etcd_bookmark_counts": {("apps", "deployments"): 2}}


def test_lists_of_caches_are_lists_of_storage_since_1_37() -> None:
    of_storage = metric_families.counter("apiserver_storage_list_total", "", labels=("group", "resource"))
    of_storage.of("", "pods").add(1)
    of_caches = metric_families.counter("apiserver_cache_list_total", "", labels=("group", "index", "resource"))
    of_caches.of("", "b:spec", "pods").add(5)

    found = shown((1, 37), [of_caches, of_storage])

    assert found == {
        "apiserver_storage_list_total": {("", "b:spec", "pods", "watchcache"): 5, ("", "", "pods", "etcd"): 1}
    }


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("apiserver_cel_evaluation_duration_seconds", (1, 33)),
        ("apiserver_watch_list_duration_seconds", (1, 36)),
        ("workqueue_depth", (1, 36)),
    ],
)
def test_a_metric_is_beta_since_its_minor(name: str, first: Version) -> None:
    family = metric_families.gauge(name, "", labels=("name",), stability=Stability.BETA)

    beta = [
        minor for minor in range(33, 37) for one in view_of((1, minor))([family]) if one.stability is Stability.BETA
    ]

    assert beta == list(range(first[1], 37))


def test_a_reset_of_a_view_resets_the_counts() -> None:
    requests = metric_families.counter("etcd_requests_total", "", labels=("operation", "group", "resource"))
    requests.of("get", "", "pods").add()

    for family in view_of((1, 33))([requests]):
        family.reset()

    assert requests.of("get", "", "pods").value == 0
