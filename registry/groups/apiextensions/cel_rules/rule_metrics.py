"""Rule metrics: durations of the CEL rules of custom resources: compilation, and evaluation on objects.

The worker thread records as well. Must hold: an observation calls nothing between its read and its write of a number,
so that the event loop and the thread lose no count.
"""

from msgspec import Struct, field

from aio_apiserver.base import measures
from aio_apiserver.base.clock import Clock, SystemClock

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class RuleMetrics:
    """The durations of one server."""

    def __init__(self) -> None:
        self.compilations = measures.histograms(bounds=_SECONDS)
        self.evaluations = measures.histograms(bounds=_SECONDS)


class RuleRecorder(Struct, frozen=True):
    """Records durations by a clock. Without arguments, what it records is dropped."""

    metrics: RuleMetrics = field(default_factory=RuleMetrics)
    clock: Clock = field(default_factory=SystemClock)

    def compiled(self, began: float) -> None:
        """All rules of a schema were compiled."""
        self.metrics.compilations.of().observe(self.clock.monotonic() - began)

    def evaluated(self, began: float) -> None:
        """All rules of a schema were evaluated on an object."""
        self.metrics.evaluations.of().observe(self.clock.monotonic() - began)
