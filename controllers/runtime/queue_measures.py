"""Queue measures: counts and durations of one work queue.

Must hold: measuring does not change the queue. A key waits from its first addition until a worker takes it.
"""

from itertools import accumulate
from operator import mul

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.measures import Histogram

SECONDS = tuple(accumulate([1e-8, *[10.0] * 9], mul))
"""Ten times the bound before, as kube-apiserver computes them: 9.999999999999999e-06 is one."""


class QueueMeasures:
    """The measures of one queue."""

    def __init__(self, patience: Clock) -> None:
        self.adds = self.retries = 0
        self.waited = Histogram(SECONDS)
        self.worked = Histogram(SECONDS)
        self._patience = patience
        self._added: dict[str, float] = {}
        self._started: dict[str, float] = {}

    def added(self, key: str) -> None:
        """A key was added that was not waiting."""
        self.adds += 1
        self._added[key] = self._patience.monotonic()

    def started(self, key: str) -> None:
        now = self._patience.monotonic()
        self.waited.observe(now - self._added.pop(key, now))
        self._started[key] = now

    def done(self, key: str) -> None:
        now = self._patience.monotonic()
        self.worked.observe(now - self._started.pop(key, now))

    @property
    def unfinished(self) -> list[float]:
        """The seconds of unfinished work so far, by worker."""
        now = self._patience.monotonic()
        return [now - began for began in self._started.values()]
