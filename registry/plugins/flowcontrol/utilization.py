"""Utilization: which part of its seats and queues a priority level used, and for how long.

Its histograms count nanoseconds: one second in a state adds a thousand million observations. Must hold: the total that
a part refers to was valid for all of the time that is added.
"""

from aio_apiserver.base.measures import Histogram
from aio_apiserver.registry.plugins.flowcontrol.queue_set import QueueSetState, Queuing

_REQUESTS = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1)
_SEATS = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)
_DEMAND = (0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6)
_NANOSECONDS = 1e9


class Utilization:
    """The histograms of one level."""

    __slots__ = ("_places", "_seats", "demand", "executing", "seats", "waiting")

    def __init__(self) -> None:
        self.executing = Histogram(_REQUESTS)
        self.waiting = Histogram(_REQUESTS)
        self.seats = Histogram(_SEATS)
        self.demand = Histogram(_DEMAND)
        self._seats = self._places = 1

    def full(self, seats: int, queuing: Queuing | None) -> None:
        """Set the totals that count as full."""
        self._seats = seats
        self._places = max(1, queuing.queues * queuing.length_limit) if queuing is not None else 1

    def add(self, state: QueueSetState, seconds: float) -> None:
        """Add the time in a state."""
        times = round(seconds * _NANOSECONDS)
        self.executing.observe_many(state.executing / self._seats, times)
        self.waiting.observe_many(state.waiting / self._places, times)
        self.seats.observe_many(state.seats / self._seats, times)
        self.demand.observe_many((state.seats + state.waiting_seats) / self._seats, times)
