"""Figures: the results of benchmarks with their references and targets, and the table that prints them.

Pure. Must hold: a larger share is better. A figure decides whether its target is met.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """The format of values."""

    text: str
    decimals: int = 0

    def show(self, value: float) -> str:
        return f"{value:,.{self.decimals}f}{self.text}"


PER_SECOND = Unit("/s")
SECONDS = Unit(" s", 1)
MILLISECONDS = Unit(" ms", 2)
MICROSECONDS = Unit(" µs", 2)
KILOBYTES = Unit(" kB", 2)
MEGABYTES = Unit(" MB", 1)
PERCENT = Unit(" %")


@dataclass(frozen=True, slots=True)
class Reference:
    """The same work by another program in the same run."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Target:
    """A bound on a figure's value or, with `of_share`, on its share of the reference in percent."""

    bound: float
    is_least: bool = True
    of_share: bool = False

    def is_met(self, figure: "Figure") -> bool:
        found = figure.share if self.of_share else figure.value
        assert found is not None, "a target for a share wants a reference"
        return found >= self.bound if self.is_least else found <= self.bound

    def show(self, unit: Unit) -> str:
        return f"{'>=' if self.is_least else '<='} {(PERCENT if self.of_share else unit).show(self.bound)}"


def at_least(bound: float) -> Target:
    return Target(bound)


def at_most(bound: float) -> Target:
    return Target(bound, is_least=False)


def share_of_at_least(percent: float) -> Target:
    return Target(percent, of_share=True)


def share_of_at_most(percent: float) -> Target:
    return Target(percent, is_least=False, of_share=True)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. A figure without a target is for information."""

    name: str
    value: float
    unit: Unit
    reference: Reference | None = None
    target: Target | None = None

    @property
    def share(self) -> float | None:
        """The value in percent of the reference's value."""
        return 100 * self.value / self.reference.value if self.reference else None

    @property
    def is_missed(self) -> bool:
        return self.target is not None and not self.target.is_met(self)


_HEAD = ("figure", "value", "reference", "share", "target", "met?")
_TO_THE_RIGHT = (False, True, True, True, True, False)


def table(figures: Sequence[Figure]) -> str:
    """The figures in aligned columns."""
    rows = [_HEAD, *map(_cells, figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths) for row in rows)


def _cells(figure: Figure) -> tuple[str, ...]:
    reference, share, target = figure.reference, figure.share, figure.target
    return (
        figure.name,
        figure.unit.show(figure.value),
        f"{reference.name} {figure.unit.show(reference.value)}" if reference else "",
        PERCENT.show(share) if share is not None else "",
        target.show(figure.unit) if target else "",
        ("no" if figure.is_missed else "yes") if target else "",
    )


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (
        cell.rjust(width) if to_the_right else cell.ljust(width)
        for cell, width, to_the_right in zip(row, widths, _TO_THE_RIGHT, strict=True)
    )
    return "  ".join(cells).rstrip()
