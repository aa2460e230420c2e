"""Time spent: statistics of a value, from the time that it had each value. Pure."""

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple


class Statistics(NamedTuple):
    """Average, standard deviation and highest value over some seconds."""

    seconds: float
    average: float
    deviation: float
    highest: float


NOTHING = Statistics(0.0, 0.0, 0.0, 0.0)


def statistics(seconds: Mapping[float, float], *, present: float) -> Statistics:
    """The statistics of seconds by value. The present value counts for `highest` also with no time."""
    total = sum(seconds.values())
    highest = max((*seconds, present))
    if total <= 0:
        return Statistics(0.0, 0.0, 0.0, highest)
    average = sum(value * spent for value, spent in seconds.items()) / total
    variance = sum(spent * (value - average) ** 2 for value, spent in seconds.items()) / total
    return Statistics(total, average, sqrt(variance), highest)
