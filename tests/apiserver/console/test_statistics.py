"""Statistics: readings of the metrics become lines of plots, an hour of them."""

import pytest

from aio_apiserver.apiserver.console.statistics.metrics_history import READINGS, MetricsHistory
from aio_apiserver.apiserver.metrics import metric_families, plots
from aio_apiserver.base.clock import ManualClock


def test_counters_become_rates_by_label_and_histograms_percentiles() -> None:
    clock = ManualClock()
    total = metric_families.counter("apiserver_request_total", "", labels=("verb", "code"))
    latency = metric_families.histogram(
        "apiserver_request_duration_seconds", "", labels=("verb",), bounds=(0.1, 0.2, 0.4)
    )
    total.of("GET", "200").add(5)
    history = MetricsHistory(lambda: [total, latency], clock)
    history.read()

    total.of("GET", "200").add(20)
    total.of("LIST", "404").add(10)
    for _ in range(10):
        latency.of("GET").observe(0.15)
    latency.of("WATCH").observe(60)
    history.read()

    lines = {one["name"]: one["lines"] for one in history.as_json()["plots"]}
    assert set(lines["verbs"]) == {"GET", "LIST"}
    assert lines["codes"]["200"][0] == 2 * lines["codes"]["404"][0]
    assert lines["latency"]["p50"] == [pytest.approx(0.15)]
    assert lines["queues"] == {}


def test_the_history_is_an_hour() -> None:
    depth = metric_families.gauge("workqueue_depth", "", labels=("name",))
    depth.of("jobs").set(3)
    history = MetricsHistory(lambda: [depth], ManualClock())

    for _ in range(READINGS + 5):
        history.read()

    shown = history.as_json()
    assert len(shown["times"]) == READINGS
    [lines] = [one["lines"] for one in shown["plots"] if one["name"] == "queues"]
    assert lines == {"jobs": [3] * READINGS}


def test_many_lines_are_summed_up() -> None:
    lines = plots.fewer({str(number): [float(number)] for number in range(12)})

    assert len(lines) == plots.MOST_LINES
    assert lines["others"] == [sum(range(5))]
    assert next(iter(lines)) == "11"


def test_a_reading_has_few_lines_however_many_kinds_there_are() -> None:
    objects = metric_families.gauge("apiserver_resource_objects", "", labels=("group", "resource"))
    for number in range(5_000):
        objects.of("example.org", f"kind-{number}").set(number)
    history = MetricsHistory(lambda: [objects], ManualClock())

    for _ in range(2):
        history.read()

    [reading] = history._values
    assert len(reading["objects"]) == 64
    assert sum(reading["objects"].values()) == sum(range(5_000))
