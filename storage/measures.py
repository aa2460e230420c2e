"""Measures: counts and distributions of what happens, cheap enough for every request.

Plain numbers that one event loop changes; nothing is locked, named or formatted when something is recorded. Who records
often keeps the series it records in; whoever publishes reads the families. Must hold: recording never fails and never
waits; a counter never goes back.

    requests = measures.counter("requests_total", "Requests", labels=("code",))
    requests.of("200").add()
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Generic, TypeVar


class Kind(Enum):
    """What the numbers of a family mean."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Stability(Enum):
    """What may be built on a family: STABLE ones keep name, labels and meaning."""

    ALPHA = "ALPHA"
    BETA = "BETA"
    STABLE = "STABLE"


class Counter:
    """A number that only grows."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0

    def add(self, amount: float = 1) -> None:
        self.value += amount

    def reset(self) -> None:
        self.value = 0


class Gauge(Counter):
    """A number that may also shrink."""

    __slots__ = ()

    def set(self, value: float) -> None:
        self.value = value


class Histogram:
    """How often values fell between bounds, of which there is one at least: `counts` has one more."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum: float = 0

    def observe(self, value: float) -> None:
        """Most of what is recorded often falls below the first bound: that is not searched for."""
        self.counts[bisect_left(self.bounds, value) if value > self.bounds[0] else 0] += 1
        self.sum += value

    def observe_many(self, value: float, times: int) -> None:
        self.counts[bisect_left(self.bounds, value)] += times
        self.sum += value * times

    @property
    def total(self) -> int:
        """How many values there were."""
        return sum(self.counts)

    def reset(self) -> None:
        self.counts = [0] * len(self.counts)
        self.sum = 0

    def add(self, other: "Histogram") -> None:
        """Take what another one with more bounds, these among them, has seen."""
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
        kind: Kind,
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
        """The series of some labels, which is there from now on."""
        series = self._series.get(values)
        if series is None:
            series = self._series[values] = self._make()
        return series

    @property
    def series(self) -> Mapping[tuple[str, ...], M]:
        return self._series

    def reset(self) -> None:
        """Begin anew, for people who measure something: nobody who records notices."""
        for series in self._series.values():
            series.reset()


AnyFamily = Family[Series]


def counter(
    name: str, documentation: str, *, labels: Sequence[str] = (), stability: Stability = Stability.ALPHA
) -> Family[Counter]:
    """A family of counters."""
    return Family(name, documentation, Counter, kind=Kind.COUNTER, labels=labels, stability=stability)


def gauge(
    name: str, documentation: str, *, labels: Sequence[str] = (), stability: Stability = Stability.ALPHA
) -> Family[Gauge]:
    """A family of gauges."""
    return Family(name, documentation, Gauge, kind=Kind.GAUGE, labels=labels, stability=stability)


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
        name, documentation, lambda: Histogram(bounds), kind=Kind.HISTOGRAM, labels=labels, stability=stability
    )


class Measures:
    """All families of one server."""

    def __init__(self) -> None:
        self._sources: list[Callable[[], Iterable[AnyFamily]]] = []

    def ask(self, source: Callable[[], Iterable[AnyFamily]]) -> None:
        """Have families published, which may be made when somebody wants to see them."""
        self._sources.append(source)

    def families(self) -> Iterator[AnyFamily]:
        """Everything that there is to see now."""
        for source in self._sources:
            yield from source()
