"""Measures: counters, gauges and histograms that are cheap enough for every request.

Plain numbers, changed by one event loop; recording takes no lock and formats nothing. Frequent recorders keep their
series. The server names the tallies when it publishes them (apiserver/metrics). Must hold: recording does not fail or
wait. A counter does not decrease.

    requests = measures.counters("code")
    requests.of("200").add()
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Generic, TypeVar


class MetricKind(Enum):
    """The type of a tally."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Counter:
    """A number that grows."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0

    def add(self, amount: float = 1) -> None:
        self.value += amount

    def reset(self) -> None:
        self.value = 0


class Gauge(Counter):
    """A number that grows and shrinks."""

    __slots__ = ()

    def set(self, value: float) -> None:
        self.value = value


class Histogram:
    """A histogram with at least one bound; `counts` has one element more than `bounds`."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum: float = 0

    def observe(self, value: float) -> None:
        """Values below the first bound, which are the usual ones, need no search."""
        self.counts[bisect_left(self.bounds, value) if value > self.bounds[0] else 0] += 1
        self.sum += value

    def observe_many(self, value: float, times: int) -> None:
        self.counts[bisect_left(self.bounds, value)] += times
        self.sum += value * times

    @property
    def total(self) -> int:
        """The number of values."""
        return sum(self.counts)

    def reset(self) -> None:
        self.counts = [0] * len(self.counts)
        self.sum = 0

    def add(self, other: "Histogram") -> None:
        """Add a histogram with more bounds, which include the bounds of this one."""
        for bound, count in zip((*other.bounds, float("inf")), other.counts, strict=True):
            self.counts[bisect_left(self.bounds, bound)] += count
        self.sum += other.sum


Series = Counter | Histogram
M = TypeVar("M", bound=Series, covariant=True)


class Tally(Generic[M]):
    """The series of one kind, by the values of their labels. A tally has no name."""

    def __init__(self, make: Callable[[], M], *, kind: MetricKind, labels: Sequence[str]) -> None:
        self.kind = kind
        self.labels = labels
        self._make = make
        self._series: dict[tuple[str, ...], M] = {}
        if not labels:
            self._series[()] = make()

    def of(self, *values: str) -> M:
        """The series of these labels; created at its first use."""
        series = self._series.get(values)
        if series is None:
            series = self._series[values] = self._make()
        return series

    @property
    def series(self) -> Mapping[tuple[str, ...], M]:
        return self._series

    def relabelled(
        self, labels: Sequence[str], values_of: Callable[[tuple[str, ...]], tuple[str, ...]], kind: MetricKind
    ) -> "Tally[M]":
        """The present series under other labels."""
        found = Tally(self._make, kind=kind, labels=labels)
        found._series = {values_of(values): series for values, series in self._series.items()}
        return found

    def joined(self, other: "Tally[M]") -> "Tally[M]":
        """The present series of two tallies with the same labels and no common series."""
        found = Tally(self._make, kind=self.kind, labels=self.labels)
        found._series = {**self._series, **other._series}
        return found

    def reset(self) -> None:
        """Reset all series, for people who measure. Recorders keep their series."""
        for series in self._series.values():
            series.reset()


def counters(*labels: str) -> Tally[Counter]:
    """Counters by the values of some labels; one counter without labels."""
    return Tally(Counter, kind=MetricKind.COUNTER, labels=labels)


def gauges(*labels: str) -> Tally[Gauge]:
    """Gauges by the values of some labels."""
    return Tally(Gauge, kind=MetricKind.GAUGE, labels=labels)


def histograms(*labels: str, bounds: Sequence[float]) -> Tally[Histogram]:
    """Histograms with the same bounds, in ascending order, by the values of some labels."""
    return Tally(lambda: Histogram(bounds), kind=MetricKind.HISTOGRAM, labels=labels)
