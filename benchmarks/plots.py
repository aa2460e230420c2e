"""plots: SVG plots of the pages that measurements write: bars of several servers, and curves.

Must hold: equal figures make equal files.
"""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas

FOLDER = Path(__file__).parents[1] / "docs" / "plots"
_WIDTH = 9
_DATELESS = {"Date": None}


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot of a row: its lines by their names, each of points."""

    title: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    is_log: bool = False
    """Whether x grows by factors."""
    marker: str = ""


def bars(name: str, title: str, groups: Mapping[str, Sequence[float]], rows: Sequence[str], *, is_log: bool) -> None:
    """Horizontal bars: a row for each figure, in it a bar for each group."""
    canvas = _canvas(0.25 * len(rows) * len(groups) + 1.2)
    axes = canvas.subplots()
    height = 0.8 / len(groups)
    for number, (group, values) in enumerate(groups.items()):
        places = [place + (number - (len(groups) - 1) / 2) * height for place in range(len(rows))]
        axes.barh(places, values, height, label=group)
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.set_xlabel(title)
    if is_log:
        axes.set_xscale("log")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right")
    _save(canvas, name)


def curves(name: str, panels: Sequence[Panel]) -> None:
    """Lines over a common kind of x, one plot beside the other."""
    canvas = _canvas(2.4)
    for axes, panel in zip(canvas.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for label, points in panel.lines.items():
            axes.plot([x for x, _ in points], [y for _, y in points], marker=panel.marker, label=label, linewidth=1)
        axes.set_title(panel.title, fontsize=9)
        if panel.is_log:
            axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        if len(panel.lines) > 1:
            axes.legend(fontsize=8)
    _save(canvas, name)


def _canvas(height: float) -> Canvas:
    mpl.rcParams.update({"svg.hashsalt": "plots", "svg.fonttype": "none", "font.size": 9})
    return Canvas(figsize=(_WIDTH, height), layout="constrained")


def _save(canvas: Canvas, name: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    drawn = io.StringIO()
    canvas.savefig(drawn, format="svg", metadata=_DATELESS)
    (FOLDER / f"{name}.svg").write_text(compact(drawn.getvalue()))


def compact(svg: str) -> str:
    """A drawing in a third of its size: without metadata and comments, a tenth of a point fine, few lines."""
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<!DOCTYPE[^>]*>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"-?\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), svg)
    svg = re.sub(r"\s*\n\s*(?=[MLCQTz\"])", " ", svg)
    svg = re.sub(r"\n\s*", "\n", svg).replace(' "', '"')
    return re.sub(r">\n(?!<g id=.axes)", ">", svg).rstrip() + "\n"
