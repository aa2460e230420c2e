"""Metrics of several workers as those of one server."""

import re

import pytest

from aio_apiserver.apiserver.endpoints import exposition
from aio_apiserver.apiserver.metrics import merging, metric_families, process
from tests.paths import ROOT

GAUGE = re.compile(r"^\| `(\w+)` \| gauge \|", re.MULTILINE)


def _requests(*codes: str) -> bytes:
    """The dump of a worker that has answered with these codes."""
    requests = metric_families.counter("requests_total", "Requests.", labels=("code",))
    seconds = metric_families.histogram("seconds", "Seconds.", bounds=(1.0, 2.0), labels=("verb",))
    for code in codes:
        requests.of(code).add()
        seconds.of("GET").observe(1.5)
    return merging.dump([requests, seconds])


def test_counters_and_histograms_are_added() -> None:
    text = exposition.text(merging.merged([_requests(), _requests("200"), _requests("200", "404")]))

    assert text.splitlines() == [
        "# HELP requests_total [ALPHA] Requests.",
        "# TYPE requests_total counter",
        'requests_total{code="200"} 2',
        'requests_total{code="404"} 1',
        "# HELP seconds [ALPHA] Seconds.",
        "# TYPE seconds histogram",
        'seconds_bucket{verb="GET",le="1"} 0',
        'seconds_bucket{verb="GET",le="2"} 3',
        'seconds_bucket{verb="GET",le="+Inf"} 3',
        'seconds_sum{verb="GET"} 4.5',
        'seconds_count{verb="GET"} 3',
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [("apiserver_longrunning_requests", 5), ("apiserver_storage_objects", 3), ("kubernetes_healthcheck", 2)],
)
@pytest.mark.parametrize("labels", [(), ("resource",)], ids=["without labels", "with labels"])
def test_a_gauge_is_a_sum_or_what_all_see(name: str, value: int, labels: tuple[str, ...]) -> None:
    def dump(number: int) -> bytes:
        gauge = metric_families.gauge(name, "A gauge.", labels=labels)
        gauge.of(*("pods" for _ in labels)).set(number)
        return merging.dump([gauge])

    (family,) = merging.merged([dump(2), dump(3)])

    assert [series.value for series in family.series.values() if not hasattr(series, "counts")] == [value]


def test_each_gauge_has_a_meaning_for_all_workers() -> None:
    gauges = set(GAUGE.findall((ROOT / "docs" / "metrics.md").read_text()))
    meanings = (merging.LARGEST, merging.SMALLEST, merging.SUMMED)

    assert sorted(gauges - frozenset.union(*meanings)) == []
    assert sorted(frozenset.union(*meanings) - gauges) == []
    assert sum(map(len, meanings)) == len(frozenset.union(*meanings))


def test_the_metrics_of_processes_are_added() -> None:
    alone = dict(line.split(" ") for line in process.text().splitlines() if line.startswith("process_"))
    both = dict(
        line.split(" ")
        for line in process.merged_text([process.dump(), process.dump()]).splitlines()
        if line.startswith("process_")
    )

    assert both.keys() == alone.keys()
    assert float(both["process_max_fds"]) == float(alone["process_max_fds"])
    assert float(both["process_open_fds"]) == pytest.approx(2 * float(alone["process_open_fds"]), abs=4)
    assert both["process_start_time_seconds"] == alone["process_start_time_seconds"]
