"""Condition metrics: durations, exclusions and evaluation errors of match conditions."""

from msgspec import Struct

from aio_apiserver.base import measures
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.generic.admission.interface import Operation

_LABELS = ("name", "kind", "type", "operation")
_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25)


class ConditionMetrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self.errors = measures.counters(*_LABELS)
        self.exclusions = measures.counters(*_LABELS)
        self.seconds = measures.histograms(*_LABELS, bounds=_SECONDS)


class ConditionRecorder(Struct, frozen=True):
    """Records the match conditions of one policy or webhook. `kind`: `policy` or `webhook`; `step`: the type label."""

    metrics: ConditionMetrics
    clock: Clock
    name: str
    kind: str
    step: str
    operation: Operation

    def failed(self, count: int) -> None:
        """Count the conditions whose evaluation failed."""
        if count:
            self.metrics.errors.of(*self._labels).add(count)

    def ended(self, began: float) -> None:
        """Record how long an evaluation took that did not match."""
        self.metrics.seconds.of(*self._labels).observe(self.clock.monotonic() - began)

    def excluded(self) -> None:
        """Count a write that match conditions kept from a webhook."""
        self.metrics.exclusions.of(*self._labels).add()

    @property
    def _labels(self) -> tuple[str, str, str, str]:
        return self.name, self.kind, self.step, self.operation.value
