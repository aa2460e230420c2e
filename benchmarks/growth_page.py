"""growth_page: the page docs/growth.md with a plot of each curve, from one run of growth."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmarks import origin, plots
from benchmarks.figures import Figure
from benchmarks.plots import Panel

_PAGE = Path(__file__).parents[1] / "docs" / "growth.md"
_HEAD = """\
# How it grows

`scripts/bench growth` writes this page: one server on SQLite for each size, with clients on the same machine. Times in
the first tables are CPU time of the server, which other programs of the machine change little.

Measured on {date} at commit {commit}, on {machine}.
"""
_ABOUT_BOUNDS = """\
## Large stores

The longest hold is the CPU time of one callback of the event loop. Lists go to clients in a process of their own.
"""


Points = dict[int, Mapping[str, float]]
"""The figures of one curve by size."""


@dataclass(slots=True)
class Results:
    """What one or several runs have measured."""

    curves: dict[str, Points] = field(default_factory=dict)
    bounds: dict[str, list[Figure]] = field(default_factory=dict)


def kept(file: Path | None) -> Results:
    """The results of earlier runs."""
    return msgspec.json.decode(file.read_bytes(), type=Results) if file is not None and file.exists() else Results()


def text(results: Results) -> str:
    """The figures as Markdown tables."""
    tables = [_table(name, points) for name, points in results.curves.items()]
    return "\n\n".join([*tables, *([_bounds(results)] if results.bounds else [])])


def keep(results: Results, file: Path) -> None:
    """Write the file for later runs."""
    file.write_bytes(msgspec.json.encode(results))


def write(results: Results) -> None:
    """Write the page and its plots."""
    parts = [_HEAD.format(date=f"{datetime.now(UTC):%Y-%m-%d}", commit=origin.commit(), machine=origin.machine())]
    for name, points in results.curves.items():
        _plot(name, points)
        parts += [f"## With more {name}\n", _table(name, points), f"\n![With more {name}](plots/growth-{name}.svg)\n"]
    if results.bounds:
        parts += [_ABOUT_BOUNDS, _bounds(results) + "\n"]
    _PAGE.write_text("\n".join(parts))


def _table(name: str, points: Points) -> str:
    figures = list(next(iter(points.values())))
    lines = [f"| {name} | {' | '.join(figures)} |", f"| ---: |{' ---: |' * len(figures)}"]
    for size, found in sorted(points.items()):
        lines.append(f"| {size:,} | {' | '.join(_shown(found[figure]) for figure in figures)} |")
    return "\n".join(lines)


def _bounds(results: Results) -> str:
    lines = ["| large stores | measured | wanted |", "| --- | ---: | ---: |"]
    for figure in itertools.chain.from_iterable(results.bounds.values()):
        wanted = figure.target.show(figure.unit) if figure.target is not None else ""
        lines.append(f"| {figure.name} | {figure.unit.show(figure.value)} | {wanted} |")
    return "\n".join(lines)


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"


def _plot(name: str, points: Points) -> None:
    figures = list(next(iter(points.values())))
    panels = [
        Panel(
            figure,
            {figure: [(size, found[figure]) for size, found in sorted(points.items())]},
            is_log=True,
            marker="o",
        )
        for figure in figures
    ]
    plots.curves(f"growth-{name}", panels)
