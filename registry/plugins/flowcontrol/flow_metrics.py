"""Flow metrics: the metrics of flow control, by priority level and flow schema.

Must hold: series that every request uses are looked up once. Rare series do not exist before their first event.
"""

from aio_apiserver.base import measures
from aio_apiserver.base.measures import Counter, Gauge, Histogram

_BOTH = ("priority_level", "flow_schema")
_SECONDS = (0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30)
_LENGTHS = (0, 10, 25, 50, 100, 250, 500, 1000)
_SEATS = (1, 2, 4, 8, 16, 32, 64, 100)
_WATCHES = (0, 1, 10, 100, 1000, 10000)


class FlowMetrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self.dispatched = measures.counters(*_BOTH)
        self.rejected = measures.counters(*_BOTH, "reason")
        self.executing = measures.gauges(*_BOTH)
        self.executing_seats = measures.gauges(*_BOTH)
        self.in_queues = measures.gauges(*_BOTH)
        self.seats_in_queues = measures.gauges(*_BOTH)
        self.queue_lengths = measures.histograms(*_BOTH, bounds=_LENGTHS)
        self.waiting = measures.histograms(*_BOTH, "execute", bounds=_SECONDS)
        self.execution = measures.histograms(*_BOTH, "type", bounds=_SECONDS)
        self.seats = measures.histograms(*_BOTH, bounds=_SEATS)
        self.watches = measures.histograms(*_BOTH, bounds=_WATCHES)
        self.not_accommodated = measures.counters(*_BOTH)
        self._series: dict[tuple[str, str], FlowSeries] = {}

    def of(self, level: str, schema: str) -> "FlowSeries":
        """The series of one flow schema at a level."""
        labels = level, schema
        series = self._series.get(labels)
        if series is None:
            series = self._series[labels] = FlowSeries(self, labels)
        return series


class FlowSeries:
    """The series of one flow schema at one level."""

    __slots__ = (
        "_labels",
        "_metrics",
        "dispatched",
        "executing",
        "executing_seats",
        "execution",
        "queue_lengths",
        "seats",
        "waited",
    )

    def __init__(self, metrics: FlowMetrics, labels: tuple[str, str]) -> None:
        self._metrics = metrics
        self._labels = labels
        self.dispatched: Counter = metrics.dispatched.of(*labels)
        self.executing: Gauge = metrics.executing.of(*labels)
        self.executing_seats: Gauge = metrics.executing_seats.of(*labels)
        self.execution: Histogram = metrics.execution.of(*labels, "regular")
        self.queue_lengths: Histogram = metrics.queue_lengths.of(*labels)
        self.seats: Histogram = metrics.seats.of(*labels)
        self.waited: Histogram = metrics.waiting.of(*labels, "true")

    def watch_began(self, seconds: float) -> None:
        self._metrics.execution.of(*self._labels, "watch").observe(seconds)

    def waits(self, requests: int, seats: int) -> None:
        """Change the number of waiting requests and of their seats."""
        self._metrics.in_queues.of(*self._labels).add(requests)
        self._metrics.seats_in_queues.of(*self._labels).add(seats)

    def waited_in_vain(self, seconds: float) -> None:
        self._metrics.waiting.of(*self._labels, "false").observe(seconds)

    def refused(self, reason: str) -> None:
        self._metrics.rejected.of(*self._labels, reason).add()

    def reaches(self, watches: int) -> None:
        """Record the number of watches that a write reaches."""
        self._metrics.watches.of(*self._labels).observe(watches)

    def not_accommodated(self) -> None:
        self._metrics.not_accommodated.of(*self._labels).add()
