"""outcomes: what a part of `make soak` has seen: counts, the worst figures, and latencies over time.

Pure but for the clock of `Latencies`. Must hold: the outcomes of two runs of one part can be added up.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct

_POINTS = 20
"""The most points of a plot that one run adds."""


class Moment(Struct, frozen=True):
    """The latencies of the requests in a span of a run, in milliseconds. second: its end, since the run began."""

    second: float
    p50: float
    p99: float
    requests: int


class Outcome(Struct, frozen=True):
    """The outcome of one run. counts add up over runs; of each of `most`, the highest counts. text: more in words."""

    counts: Mapping[str, int] = {}
    most: Mapping[str, float] = {}
    moments: Sequence[Moment] = ()
    text: str = ""

    def __str__(self) -> str:
        counts = [f"{count:,} {name}" for name, count in self.counts.items()]
        return "; ".join(filter(None, [", ".join([*counts, *_shown(self.most)]), self.text]))


class Latencies:
    """The latencies of requests while a run goes on."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._samples: list[tuple[float, float]] = []

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure one request that succeeds."""
        began = time.monotonic()
        yield
        self.add(began, time.monotonic())

    def add(self, began: float, ended: float) -> None:
        self._samples.append((ended - self.began, ended - began))

    def moments(self, points: int = _POINTS) -> Sequence[Moment]:
        """The latencies in so many spans of equal length. A span without a request is left out."""
        if not self._samples:
            return ()
        length = max(end for end, _ in self._samples) / points or 1.0
        spans: dict[int, list[float]] = {}
        for end, took in self._samples:
            spans.setdefault(min(int(end / length), points - 1), []).append(took)
        return [_moment((place + 1) * length, sorted(spans[place])) for place in sorted(spans)]


def sum_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Several runs as one. Their words are not kept, but for the last ones."""
    counts: dict[str, int] = {}
    most: dict[str, float] = {}
    for one in outcomes:
        for name, count in one.counts.items():
            counts[name] = counts.get(name, 0) + count
        for name, figure in one.most.items():
            most[name] = max(most.get(name, figure), figure)
    return Outcome(counts, most, text=outcomes[-1].text if outcomes else "")


def _moment(second: float, ordered: Sequence[float]) -> Moment:
    p50, p99 = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
    return Moment(round(second, 2), round(p50 * 1e3, 2), round(p99 * 1e3, 2), len(ordered))


def _shown(figures: Mapping[str, float]) -> Iterator[str]:
    for name, figure in figures.items():
        yield f"{name} at most {figure:,.0f}" if figure >= 100 else f"{name} at most {figure:.3g}"
