"""plots: the table of plots: of which metrics each is made, and how their series are summed up to its lines.

Pure. The metrics are those of /metrics. Must hold: a plot has at most eight lines; smaller ones are summed up as
`others`.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from heapq import nlargest
from operator import itemgetter
from typing import Any

from msgspec import Struct

from aio_apiserver.apiserver.metrics.metric_families import AnyFamily

MOST_LINES = 8
_QUANTILES = (0.5, 0.9, 0.99)
_OTHERS = "others"


class PlotKind(Enum):
    """How a line is made: a gauge as it is, a counter as its rate a second, a histogram as quantiles in seconds."""

    LEVEL = "level"
    RATE = "rate"
    QUANTILES = "quantiles"


class Plot(Struct, frozen=True):
    """One plot. label: the label whose values are the lines; empty for one line. without: series that do not count.

    is_highest: the line is the highest of its series instead of their sum.
    """

    name: str
    title: str
    unit: str
    family: str
    kind: PlotKind
    label: str = ""
    without: Mapping[str, Sequence[str]] = {}
    is_highest: bool = False


_STREAMS = {"verb": ("WATCH", "CONNECT")}

PLOTS = (
    Plot("verbs", "Requests by verb", "/s", "apiserver_request_total", PlotKind.RATE, "verb"),
    Plot("codes", "Requests by status", "/s", "apiserver_request_total", PlotKind.RATE, "code"),
    Plot("latency", "Latency", "s", "apiserver_request_duration_seconds", PlotKind.QUANTILES, without=_STREAMS),
    Plot("watches", "Open watches and other streams", "", "apiserver_longrunning_requests", PlotKind.LEVEL, "resource"),
    Plot(
        "dispatched",
        "Events to watchers",
        "/s",
        "apiserver_watch_cache_events_dispatched_total",
        PlotKind.RATE,
        "resource",
    ),
    Plot("lag", "Lag of watch caches", "s", "apiserver_watch_cache_lag_seconds", PlotKind.LEVEL, is_highest=True),
    Plot("objects", "Objects", "", "apiserver_resource_objects", PlotKind.LEVEL, "resource"),
    Plot("size", "Size of the store", "B", "apiserver_storage_size_bytes", PlotKind.LEVEL),
    Plot("queues", "Keys in work queues", "", "workqueue_depth", PlotKind.LEVEL, "name"),
    Plot("work", "Keys that controllers add", "/s", "workqueue_adds_total", PlotKind.RATE, "name"),
    Plot(
        "seats",
        "Seats in use by priority level",
        "",
        "apiserver_flowcontrol_current_executing_seats",
        PlotKind.LEVEL,
        "priority_level",
    ),
    Plot(
        "waiting",
        "Requests in queues by priority level",
        "",
        "apiserver_flowcontrol_current_inqueue_requests",
        PlotKind.LEVEL,
        "priority_level",
    ),
)

Reading = Mapping[str, Any]
"""By line: a number, or the counts of a histogram's buckets."""


def reading(plot: Plot, family: AnyFamily) -> Reading:
    """The present values of a plot's lines: levels, totals of counters, or the buckets of a histogram."""
    labels = list(family.labels)
    place = labels.index(plot.label) if plot.label in labels else -1
    skipped = [(labels.index(name), values) for name, values in plot.without.items() if name in labels]
    lines: dict[str, Any] = {}
    for values, one in family.series.items():
        if any(values[index] in refused for index, refused in skipped):
            continue
        line = values[place] if place >= 0 else plot.title
        _add(lines, line, one, plot)
    return lines


def _add(lines: dict[str, Any], line: str, one: Any, plot: Plot) -> None:
    if plot.kind is PlotKind.QUANTILES:
        known = lines.setdefault("buckets", [0] * len(one.counts))
        lines["buckets"] = [a + b for a, b in zip(known, one.counts, strict=True)]
        lines["bounds"] = list(one.bounds)
    elif plot.is_highest:
        lines[line] = max(lines.get(line, 0.0), one.value)
    else:
        lines[line] = lines.get(line, 0.0) + one.value


def values(plot: Plot, before: Reading, after: Reading, seconds: float) -> Mapping[str, float]:
    """What the lines show for the time between two readings."""
    if plot.kind is PlotKind.LEVEL:
        return after
    if plot.kind is PlotKind.RATE:
        return {line: max(0.0, total - before.get(line, 0.0)) / seconds for line, total in after.items()}
    counts = after.get("buckets", [])
    if "buckets" in before:
        counts = [now - then for now, then in zip(counts, before["buckets"], strict=True)]
    return {f"p{part * 100:g}": quantile(counts, after["bounds"], part) for part in _QUANTILES} if sum(counts) else {}


def quantile(counts: Sequence[int], bounds: Sequence[float], part: float) -> float:
    """The upper bound of the bucket in which a part of all observations is reached, interpolated as Prometheus does."""
    wanted, seen, lower = sum(counts) * part, 0, 0.0
    for count, upper in zip(counts, bounds, strict=False):
        if count and seen + count >= wanted:
            return lower + (upper - lower) * (wanted - seen) / count
        seen, lower = seen + count, upper
    return lower


def highest(lines: Mapping[str, float], most: int) -> Mapping[str, float]:
    """At most so many lines of one reading: the highest ones, and the sum of the others."""
    if len(lines) <= most:
        return lines
    kept = dict(nlargest(most - 1, lines.items(), key=itemgetter(1)))
    return {**kept, _OTHERS: sum(lines.values()) - sum(kept.values())}


def fewer(lines: Mapping[str, Sequence[float | None]]) -> Mapping[str, Sequence[float | None]]:
    """At most eight lines: the highest ones, and the sum of the others."""
    ranked = sorted(lines, key=lambda name: -max((value or 0.0 for value in lines[name]), default=0.0))
    if len(ranked) <= MOST_LINES:
        return {name: lines[name] for name in ranked}
    kept, rest = ranked[: MOST_LINES - 1], ranked[MOST_LINES - 1 :]
    columns = zip(*(lines[name] for name in rest), strict=True)
    return {**{name: lines[name] for name in kept}, _OTHERS: [sum(value or 0.0 for value in one) for one in columns]}
