from benchmarks import growth_page, performance_page
from benchmarks.growth_page import Curve
from benchmarks.load import Sample
from benchmarks.performance_page import Row


def test_figures_are_shown_with_their_ratio_to_the_first_server() -> None:
    rows = [
        Row("GET", {"first": Sample(1000, 0.002, 0.01, 50e-6), "second": Sample(2500, 0.001, 0.005, 20e-6)}),
        Row("memory", {"first": Sample(100, 0, 0, 0), "second": Sample(50, 0, 0, 0)}, unit="MB"),
    ]

    assert performance_page.table(rows).splitlines() == [
        "| work | first | second |",
        "| --- | ---: | ---: |",
        "| GET | 1,000/s | 2,500/s (2.50x) |",
        "| memory | 100 MB | 50 MB (0.50x) |",
    ]
    assert performance_page.latencies(rows).splitlines()[2:] == ["| GET | 2.0 / 10.0, 50 | 1.0 / 5.0, 20 |"]


def test_a_curve_is_shown_as_a_line_for_each_size() -> None:
    curve = Curve("objects", {100: {"memory, MB": 90.4, "GET, /s": 5000}, 10_000: {"memory, MB": 120, "GET, /s": 4.5}})

    assert growth_page.text([curve]).splitlines() == [
        "| objects | memory, MB | GET, /s |",
        "| ---: | ---: | ---: |",
        "| 100 | 90 | 5,000 |",
        "| 10,000 | 120 | 4.50 |",
    ]
