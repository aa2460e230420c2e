"""Flow control: metrics of priority levels and requests in flight, computed when a client reads the metrics.

Must hold: reading changes no scheduling. Without API priority and fairness, the families are those of requests in
flight.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from aio_apiserver.apiserver.metrics import flows, metric_families
from aio_apiserver.apiserver.metrics.flows import PREFIX
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Family, Stability
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.measures import Histogram
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.registry.plugins.flowcontrol.occupancy import InFlight, Occupancy
from aio_apiserver.registry.plugins.flowcontrol.priority_level import PriorityLevel

_LEVEL = ("priority_level",)
_KINDS = ("readOnly", "mutating")
_READ_VS_WRITE = (0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)
_NANOSECONDS = 1e9


class _LevelGauge(NamedTuple):
    """A gauge of a priority level."""

    name: str
    documentation: str
    value: Callable[[PriorityLevel], float]
    stability: Stability = Stability.ALPHA


_OF_LEVELS = (
    _LevelGauge("nominal_limit_seats", "Seats of a level by its shares.", lambda one: one.nominal, Stability.BETA),
    _LevelGauge("lower_limit_seats", "Seats that a level never lends.", lambda one: one.lower),
    _LevelGauge("upper_limit_seats", "Seats that a level may have by borrowing.", lambda one: one.upper),
    _LevelGauge("current_limit_seats", "Seats that a level has now.", lambda one: one.limit),
    _LevelGauge("target_seats", "Seats that a level should have.", lambda one: one.target),
    _LevelGauge(
        "demand_seats_high_watermark",
        "The most seats that a level could use in the last period.",
        lambda one: one.demand.latest.highest,
    ),
    _LevelGauge(
        "demand_seats_average",
        "The seats that a level could use on average in the last period.",
        lambda one: one.demand.latest.average,
    ),
    _LevelGauge(
        "demand_seats_stdev",
        "The standard deviation of the seats that a level could use in the last period.",
        lambda one: one.demand.latest.deviation,
    ),
    _LevelGauge("demand_seats_smoothed", "The seats that a level could use lately.", lambda one: one.demand.smoothed),
    _LevelGauge("current_r", "The progress that the queues of a level are owed.", lambda one: one.queues.progress),
    _LevelGauge(
        "dispatch_r", "The progress when a request last left a queue.", lambda one: one.queues.last_dispatch[0]
    ),
    _LevelGauge("latest_s", "The reading at which that request began.", lambda one: one.queues.last_dispatch[1]),
)


class FlowControlMetrics:
    """The metrics of one server."""

    def __init__(self, in_flight: InFlight, fairness: Fairness | None, clock: Clock) -> None:
        self._in_flight = in_flight
        self._fairness = fairness
        self._clock = clock
        self._read_vs_write = metric_families.histogram(
            f"{PREFIX}read_vs_write_current_requests",
            "Which part of all seats reading and changing requests had, in nanoseconds.",
            labels=("phase", "request_kind"),
            bounds=_READ_VS_WRITE,
        )

    def families(self) -> Iterator[AnyFamily]:
        """All families, with their present values."""
        yield from self._present()
        if self._fairness is None:
            return
        levels, now = self._fairness.levels.by_name, self._clock.monotonic()
        for level in levels.values():
            level.settle(now)
        yield from flows.families(self._fairness.metrics)
        yield from (_of_levels(gauge, levels) for gauge in _OF_LEVELS)
        yield from _utilization(levels)
        fair = metric_families.gauge(
            f"{PREFIX}seat_fair_frac", "The part of its target that a level has, within bounds."
        )
        fair.of().set(self._fairness.levels.fair_share)
        yield fair
        yield self._shares(levels, now)

    def _present(self) -> Iterable[AnyFamily]:
        running = metric_families.gauge(
            "apiserver_current_inflight_requests",
            "Requests that are being served, by kind.",
            labels=("request_kind",),
            stability=Stability.STABLE,
        )
        waiting = metric_families.gauge(
            "apiserver_current_inqueue_requests", "Requests that wait, by kind.", labels=("request_kind",)
        )
        flight = self._in_flight
        for kind, served, queued in zip(
            _KINDS,
            (flight.reading, flight.changing),
            (flight.waiting_to_read, flight.waiting_to_change),
            strict=True,
        ):
            running.of(kind).set(served.present)
            waiting.of(kind).set(queued.present)
        return running, waiting

    def _shares(self, levels: Mapping[str, PriorityLevel], now: float) -> AnyFamily:
        seats = sum(level.nominal for level in levels.values())
        queuing = [level.config.queuing for level in levels.values()]
        places = sum(one.queues * one.length_limit for one in queuing if one is not None)
        flight, family = self._in_flight, self._read_vs_write
        self._add(family.of("executing", "readOnly"), flight.reading, seats, now)
        self._add(family.of("executing", "mutating"), flight.changing, seats, now)
        self._add(family.of("waiting", "readOnly"), flight.waiting_to_read, places, now)
        self._add(family.of("waiting", "mutating"), flight.waiting_to_change, places, now)
        return family

    def _add(self, histogram: Histogram, occupancy: Occupancy, whole: int, now: float) -> None:
        for number, seconds in occupancy.take_spent(now).items():
            histogram.observe_many(number / max(whole, 1), round(seconds * _NANOSECONDS))


def _of_levels(gauge: _LevelGauge, levels: Mapping[str, PriorityLevel]) -> AnyFamily:
    family = metric_families.gauge(PREFIX + gauge.name, gauge.documentation, labels=_LEVEL, stability=gauge.stability)
    for name, level in levels.items():
        family.of(name).set(gauge.value(level))
    return family


def _utilization(levels: Mapping[str, PriorityLevel]) -> Iterable[AnyFamily]:
    requests = _histograms(
        "priority_level_request_utilization",
        "Which part of a level's seats or places the requests had that were served or waited, in nanoseconds.",
        ("phase", *_LEVEL),
        {
            (phase, name): histogram
            for name, level in levels.items()
            for phase, histogram in (("executing", level.utilization.executing), ("waiting", level.utilization.waiting))
        },
    )
    seats = _histograms(
        "priority_level_seat_utilization",
        "Which part of a level's seats was taken, in nanoseconds.",
        ("phase", *_LEVEL),
        {("executing", name): level.utilization.seats for name, level in levels.items()},
    )
    demand = _histograms(
        "demand_seats",
        "The seats that a level could use as a part of what it had, in nanoseconds.",
        _LEVEL,
        {(name,): level.utilization.demand for name, level in levels.items()},
    )
    return requests, seats, demand


def _histograms(
    name: str, documentation: str, labels: tuple[str, ...], series: Mapping[tuple[str, ...], Histogram]
) -> Family[Histogram]:
    bounds = next(iter(series.values())).bounds
    family = metric_families.histogram(PREFIX + name, documentation, labels=labels, bounds=bounds)
    for values, histogram in series.items():
        family.of(*values).add(histogram)
    return family
