"""growth_page: the page docs/growth.md with a plot of each curve, from one run of growth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import origin, plots
from benchmarks.plots import Panel

_PAGE = Path(__file__).parents[1] / "docs" / "growth.md"
_HEAD = """\
# How it grows

`scripts/bench growth` writes this page: one server on SQLite for each size, with clients on the same machine.

Measured on {date} at commit {commit}, on {machine}.
"""


@dataclass(frozen=True, slots=True)
class Curve:
    """The figures of one curve by size."""

    name: str
    points: Mapping[int, Mapping[str, float]]


def text(curves: Sequence[Curve]) -> str:
    """The figures as Markdown tables."""
    return "\n\n".join(map(_table, curves))


def write(curves: Sequence[Curve]) -> None:
    """Write the page and its plots."""
    parts = [_HEAD.format(date=f"{datetime.now(UTC):%Y-%m-%d}", commit=origin.commit(), machine=origin.machine())]
    for curve in curves:
        _plot(curve)
        parts += [
            f"## With more {curve.name}\n",
            _table(curve),
            f"\n![With more {curve.name}](plots/growth-{curve.name}.svg)\n",
        ]
    _PAGE.write_text("\n".join(parts))


def _table(curve: Curve) -> str:
    figures = list(next(iter(curve.points.values())))
    lines = [f"| {curve.name} | {' | '.join(figures)} |", f"| ---: |{' ---: |' * len(figures)}"]
    for size, found in curve.points.items():
        lines.append(f"| {size:,} | {' | '.join(_shown(found[figure]) for figure in figures)} |")
    return "\n".join(lines)


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"


def _plot(curve: Curve) -> None:
    figures = list(next(iter(curve.points.values())))
    panels = [
        Panel(
            figure, {figure: [(size, found[figure]) for size, found in curve.points.items()]}, is_log=True, marker="o"
        )
        for figure in figures
    ]
    plots.curves(f"growth-{curve.name}", panels)
