from pathlib import Path

from benchmarks import growth_page, performance_page, side_by_side
from benchmarks.figures import MEGABYTES, SECONDS, Figure, at_most
from benchmarks.growth_page import Points, Results
from benchmarks.load import Sample
from benchmarks.performance_page import Row


def test_figures_are_shown_with_their_ratio_to_the_first_server() -> None:
    rows = [
        Row("GET", {"first": Sample(1000, 0.002, 0.01, 50e-6), "second": Sample(2500, 0.001, 0.005, 5e-6, 2e-6)}),
        Row("memory", {"first": Sample(100, 0, 0, 0), "second": Sample(50, 0, 0, 0)}, unit="MB"),
    ]

    assert performance_page.table(rows).splitlines() == [
        "| work | first | second |",
        "| --- | ---: | ---: |",
        "| GET | 1,000/s | 2,500/s (2.50x) |",
        "| memory | 100 MB | 50 MB (0.50x) |",
    ]
    assert performance_page.latencies(rows).splitlines()[2:] == ["| GET | 2.0 / 10.0, 50 + 0 | 1.0 / 5.0, 5.0 + 2.0 |"]


def test_targets_that_are_not_met_are_named() -> None:
    kept, slow = Sample(1000, 0.002, 0.01, 0), Sample(3100, 0.003, 0.01, 0)
    rows = [
        Row("GET a pod, JSON, 32 at once", {"first": kept, "second": slow, "second, all cores": slow}),
        Row("watch, 500 watchers, 100 events/s", {"first": kept, "second": slow}),
        Row("resident memory, idle", {"first": Sample(100, 0, 0, 0), "second": Sample(30, 0, 0, 0)}, unit="MB"),
    ]

    assert performance_page.missed(rows) == [
        "- GET a pod, JSON, 32 at once, second, all cores: 3.10x, wanted at least 4x",
        "- watch, 500 watchers, 100 events/s, second: 1.50x, wanted at most 1x",
    ]


def test_each_target_belongs_to_one_row_of_the_comparison() -> None:
    work = [*side_by_side.WORK, *side_by_side.LISTS, "resident memory, idle", "resident memory after all that"]

    assert all(sum(name.startswith(start) for start in performance_page.TARGETS) == 1 for name in work)


def test_explanations_are_kept_when_the_page_is_made_again() -> None:
    page = "# Performance\n\nold figures\n\n## Explanations\n\nWritten by hand.\n"

    assert performance_page.explanations(page) == "## Explanations\n\nWritten by hand.\n"
    assert performance_page.explanations("# Performance\n") == "## Explanations\n"


def test_a_curve_is_shown_as_a_line_for_each_size() -> None:
    points: Points = {10_000: {"memory, MB": 120, "GET, /s": 4.5}, 100: {"memory, MB": 90.4, "GET, /s": 5000}}

    assert growth_page.text(Results({"objects": points})).splitlines() == [
        "| objects | memory, MB | GET, /s |",
        "| ---: | ---: | ---: |",
        "| 100 | 90 | 5,000 |",
        "| 10,000 | 120 | 4.50 |",
    ]


def test_the_bounds_of_large_stores_are_shown_beside_what_was_measured() -> None:
    figures = [Figure("pods: memory", 1_200, MEGABYTES, target=at_most(1_500)), Figure("pods: slowest", 4.5, SECONDS)]

    assert growth_page.text(Results(bounds={"pods": figures})).splitlines()[2:] == [
        "| pods: memory | 1,200.0 MB | <= 1,500.0 MB |",
        "| pods: slowest | 4.5 s |  |",
    ]


def test_results_of_several_runs_make_one_page(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    first = Results({"objects": {100: {"GET, /s": 5000}}})

    growth_page.keep(first, file)

    assert growth_page.kept(file) == first
    assert growth_page.kept(tmp_path / "none.json") == Results()
