"""Measures: metric families (counters, gauges, histograms) that are cheap enough for every request.

Plain numbers, changed by one event loop; recording takes no lock and formats nothing. Frequent recorders keep their
series; publishers read the families. Must hold: recording does not fail or wait. A counter does not decrease.

    requests = measures.counter("requests_total", "Requests", labels=("code",))
    requests.of("200").add()
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Generic, TypeVar


class MetricKind(Enum):
    """The type of a metric family."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Stability(Enum):
    """The stability of a metric: STABLE families keep name, labels and meaning."""

    ALPHA = "ALPHA"
    BETA = "BETA"
    STABLE = "STABLE"


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


class Family(Generic[M]):
    """The series of one name, by the values of their labels."""

    def __init__(
        self,
        name: str,
        documentation: str,
        make: Callable[[], M],
        *,
        kind: MetricKind,
        labels: Sequence[str],
        stability: Stability,
    ) -> None:
        self.name = name
        self.documentation = documentation
        self.kind = kind
        self.labels = labels
        self.stability = stability
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

    def reset(self) -> None:
        """Reset all series, for people who measure. Recorders keep their series."""
        for series in self._series.values():
            series.reset()


AnyFamily = Family[Series]


def counter(
    name: str, documentation: str, *, labels: Sequence[str] = (), stability: Stability = Stability.ALPHA
) -> Family[Counter]:
    """A family of counters."""
    return Family(name, documentation, Counter, kind=MetricKind.COUNTER, labels=labels, stability=stability)


def gauge(
    name: str, documentation: str, *, labels: Sequence[str] = (), stability: Stability = Stability.ALPHA
) -> Family[Gauge]:
    """A family of gauges."""
    return Family(name, documentation, Gauge, kind=MetricKind.GAUGE, labels=labels, stability=stability)


def histogram(
    name: str,
    documentation: str,
    *,
    bounds: Sequence[float],
    labels: Sequence[str] = (),
    stability: Stability = Stability.ALPHA,
) -> Family[Histogram]:
    """A family of histograms with the same bounds, in ascending order."""
    return Family(
        name, documentation, lambda: Histogram(bounds), kind=MetricKind.HISTOGRAM, labels=labels, stability=stability
    )


class Measures:
    """All metric families of one server."""

    def __init__(self) -> None:
        self._sources: list[Callable[[], Iterable[AnyFamily]]] = []

    def ask(self, source: Callable[[], Iterable[AnyFamily]]) -> None:
        """Add a source of families, which is called when they are read."""
        self._sources.append(source)

    def families(self) -> Iterator[AnyFamily]:
        """All families."""
        for source in self._sources:
            yield from source()
