"""metric_families: tallies under the names of kube-apiserver's metrics, as Prometheus reads them.

Storage, registry and controllers count without names. The modules of this folder give the names. Must hold: a recorder
pays nothing for being published.

    requests = metric_families.counter("requests_total", "Requests.", labels=("code",))
    taken = Family("addresses_taken", "Addresses.", allocation.taken)
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Generic

from aio_apiserver.base import measures
from aio_apiserver.base.measures import Counter, Gauge, Histogram, M, MetricKind, Series, Tally


class Stability(Enum):
    """The stability of a metric: STABLE families keep name, labels and meaning."""

    ALPHA = "ALPHA"
    BETA = "BETA"
    STABLE = "STABLE"


class Family(Generic[M]):
    """A tally under its name."""

    def __init__(self, name: str, documentation: str, tally: Tally[M], stability: Stability = Stability.ALPHA) -> None:
        self.name = name
        self.documentation = documentation
        self.stability = stability
        self._tally = tally
        self.of = tally.of
        self.reset = tally.reset

    @property
    def tally(self) -> Tally[M]:
        return self._tally

    @property
    def kind(self) -> MetricKind:
        return self._tally.kind

    @property
    def labels(self) -> Sequence[str]:
        return self._tally.labels

    @property
    def series(self) -> Mapping[tuple[str, ...], M]:
        return self._tally.series


AnyFamily = Family[Series]


def counter(
    name: str, documentation: str, *, labels: Sequence[str] = (), stability: Stability = Stability.ALPHA
) -> Family[Counter]:
    """A family of counters."""
    return Family(name, documentation, measures.counters(*labels), stability)


def gauge(
    name: str, documentation: str, *, labels: Sequence[str] = (), stability: Stability = Stability.ALPHA
) -> Family[Gauge]:
    """A family of gauges."""
    return Family(name, documentation, measures.gauges(*labels), stability)


def histogram(
    name: str,
    documentation: str,
    *,
    bounds: Sequence[float],
    labels: Sequence[str] = (),
    stability: Stability = Stability.ALPHA,
) -> Family[Histogram]:
    """A family of histograms with the same bounds, in ascending order."""
    return Family(name, documentation, measures.histograms(*labels, bounds=bounds), stability)


View = Callable[[Iterable[AnyFamily]], Iterable[AnyFamily]]
"""The families as readers see them."""


class Measures:
    """All families of one server. `view`: the families as the server's minor has them."""

    def __init__(self, view: View = iter) -> None:
        self._view = view
        self._sources: list[Callable[[], Iterable[AnyFamily]]] = []

    def ask(self, source: Callable[[], Iterable[AnyFamily]]) -> None:
        """Publish families. The source is called at each request for the metrics."""
        self._sources.append(source)

    def families(self) -> Iterator[AnyFamily]:
        """All families, with their present values."""
        yield from self._view(family for source in self._sources for family in source())
