"""docs/reliability.md is what the kept runs of `make soak` render, and runs at different times add up."""

import re
from pathlib import Path

from benchmarks import plots
from tests.reliability import reliability_page, results
from tests.reliability.outcomes import Latencies, Outcome, sum_of
from tests.reliability.reliability_page import PAGE
from tests.reliability.results import Run


def run(seed: int, done: int, outcome: Outcome | None = None, failure: str = "") -> Run:
    return Run("2026-01-01", "abc", "a machine", 1.0, seed, done, 60.0, outcome or Outcome(), failure)


def test_the_page_is_what_the_results_say() -> None:
    assert PAGE.read_text() == reliability_page.text(results.load_all())


def test_the_page_shows_its_plots_and_there_are_no_others() -> None:
    shown = re.findall(r"\]\(plots/([^)]+)\)", PAGE.read_text())

    assert sorted(path.name for path in plots.FOLDER.glob("reliability-*.svg")) == sorted(shown)


def test_runs_at_different_times_add_up() -> None:
    runs = [
        run(0, 20, Outcome({"kills": 20}, {"p99": 3.0})),
        run(20, 20, Outcome({"kills": 20, "lost writes": 0}, {"p99": 2.0})),
        run(100, 5, Outcome({"kills": 5})),
    ]

    row = next(line for line in reliability_page.text({"kills.etcd": runs}).splitlines() if line.startswith("| etcd,"))

    assert row == (
        "| etcd, one process | 45 of 250 | 0 | 45 kills, 0 lost writes, p99 at most 3 | 180 s | 0-39, 100-104 "
        "| 2026-01-01, abc, 1.0-1.0 |"
    )


def test_a_violation_is_shown() -> None:
    page = reliability_page.text({"kills.etcd": [run(0, 20), run(20, 0, failure="AssertionError: a write was lost")]})

    assert "| 20 of 250 | 1 | AssertionError: a write was lost |" in page


def test_runs_are_read_as_they_were_kept(tmp_path: Path) -> None:
    latencies = Latencies()
    with latencies.measured():
        pass
    kept = [run(0, 1, Outcome({"kills": 1}, {"p99": 1.5}, latencies.moments(), "words"))]

    results.keep("part.of", kept, tmp_path)

    assert results.load_all(tmp_path) == {"part.of": kept}
    assert results.load("another", tmp_path) == []


def test_latencies_are_told_for_each_span_of_a_run() -> None:
    latencies = Latencies()
    began = latencies.began
    for place in range(100):
        latencies.add(began + place - place / 1000, began + place)

    moments = latencies.moments(points=4)

    assert [moment.requests for moment in moments] == [25, 25, 25, 25]
    assert [moment.p99 for moment in moments] == [24.0, 49.0, 74.0, 99.0]


def test_the_highest_figure_counts() -> None:
    assert sum_of([Outcome(most={"p99": 1.0}), Outcome(most={"p99": 3.0}), Outcome(most={"p99": 2.0})]).most == {
        "p99": 3
    }
