"""What is recorded of match conditions: how long those took that kept something away, and how many failed."""

from msgspec import Struct

from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.storage import measures
from aio_apiserver.storage.clock import Clock

_LABELS = ("name", "kind", "type", "operation")
_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25)


class ConditionMetrics:
    """Of one server."""

    def __init__(self) -> None:
        self.errors = measures.counters(*_LABELS)
        self.exclusions = measures.counters(*_LABELS)
        self.seconds = measures.histograms(*_LABELS, bounds=_SECONDS)


class ConditionRecorder(Struct, frozen=True):
    """For the conditions of one policy or webhook. `kind` is which of the two, `step` what it does."""

    metrics: ConditionMetrics
    clock: Clock
    name: str
    kind: str
    step: str
    operation: Operation

    def failed(self, count: int) -> None:
        """So many conditions could not be evaluated."""
        if count:
            self.metrics.errors.of(*self._labels).add(count)

    def ended(self, began: float) -> None:
        """The conditions did not all hold."""
        self.metrics.seconds.of(*self._labels).observe(self.clock.monotonic() - began)

    def excluded(self) -> None:
        """A webhook does not hear of a write."""
        self.metrics.exclusions.of(*self._labels).add()

    @property
    def _labels(self) -> tuple[str, str, str, str]:
        return self.name, self.kind, self.step, self.operation.value
