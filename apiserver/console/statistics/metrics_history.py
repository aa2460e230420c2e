"""metrics_history: reads the plots' metrics every ten seconds, and keeps an hour of them in memory.

Must hold: the memory is bounded by the number of readings, and of lines in each. A line that does not exist any more is
forgotten with its last reading.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aio_apiserver.apiserver.metrics import plots
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily
from aio_apiserver.apiserver.metrics.plots import PLOTS, Plot, Reading
from aio_apiserver.base.clock import Clock

SECONDS = 10.0
READINGS = 360
_MOST_LINES = 64
"""Of a plot in one reading: clients choose the names of custom resources, which are lines."""
_FIRST = 1.0
"""A server that starts has other things to do."""
_FAMILIES = frozenset(plot.family for plot in PLOTS)


class MetricsHistory:
    """The history of one server."""

    def __init__(self, families: Callable[[], Iterable[AnyFamily]], clock: Clock) -> None:
        self._families = families
        self._clock = clock
        self._times: deque[float] = deque(maxlen=READINGS)
        self._values: deque[Mapping[str, Mapping[str, float]]] = deque(maxlen=READINGS)
        self._last: Mapping[str, Reading] = {}
        self._last_at = 0.0

    async def run(self) -> None:
        """Read until the server stops."""
        await self._clock.sleep(_FIRST)
        while True:
            self.read()
            await self._clock.sleep(SECONDS)

    def read(self) -> None:
        """Take one reading. The first one is what later ones are compared with."""
        found = {one.name: one for one in self._families() if one.name in _FAMILIES}
        now = self._clock.monotonic()
        taken = {plot.name: plots.reading(plot, found[plot.family]) for plot in PLOTS if plot.family in found}
        if self._last:
            self._times.append(self._clock.now())
            self._values.append(
                {
                    plot.name: self._values_of(plot, taken[plot.name], max(now - self._last_at, 0.001))
                    for plot in PLOTS
                    if plot.name in taken
                }
            )
        self._last, self._last_at = taken, now

    def as_json(self) -> dict[str, Any]:
        """The times of the readings, and the lines of each plot."""
        return {
            "seconds": SECONDS,
            "times": list(self._times),
            "plots": [
                {"name": plot.name, "title": plot.title, "unit": plot.unit, "lines": self._lines(plot.name)}
                for plot in PLOTS
            ],
        }

    def _values_of(self, plot: Plot, taken: Reading, seconds: float) -> Mapping[str, float]:
        return plots.highest(plots.values(plot, self._last.get(plot.name, {}), taken, seconds), _MOST_LINES)

    def _lines(self, name: str) -> Mapping[str, Any]:
        names = dict.fromkeys(line for one in self._values for line in one.get(name, {}))
        return plots.fewer({line: [one.get(name, {}).get(line) for one in self._values] for line in names})
