"""growth_page: the page docs/growth.md with a plot of each curve, from one run of growth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas

from benchmarks import performance_page

_PAGE = Path(__file__).parents[1] / "docs" / "growth.md"
_PLOTS = _PAGE.with_name("plots")
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
    _PLOTS.mkdir(exist_ok=True)
    parts = [
        _HEAD.format(
            date=f"{datetime.now(UTC):%Y-%m-%d}", commit=performance_page.commit(), machine=performance_page.machine()
        )
    ]
    for curve in curves:
        _plot(_PLOTS / f"growth-{curve.name}.svg", curve)
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


def _plot(path: Path, curve: Curve) -> None:
    figures = list(next(iter(curve.points.values())))
    mpl.rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none", "font.size": 9})
    canvas = Canvas(figsize=(9, 2.4), layout="constrained")
    for axes, figure in zip(canvas.subplots(1, len(figures)), figures, strict=True):
        axes.plot(list(curve.points), [found[figure] for found in curve.points.values()], marker="o")
        axes.set_title(figure, fontsize=9)
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    canvas.savefig(path, metadata={"Date": None})
