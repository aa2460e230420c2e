"""Time spent: what follows from how long something has had which values. Pure."""

from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple


class Statistics(NamedTuple):
    """Of some seconds: the average of a value, its standard deviation and its highest."""

    seconds: float
    average: float
    deviation: float
    highest: float


NOTHING = Statistics(0.0, 0.0, 0.0, 0.0)


def statistics(seconds: Mapping[float, float], *, present: float) -> Statistics:
    """From the seconds by value. The present value counts as one that there was, if for no time."""
    total = sum(seconds.values())
    highest = max((*seconds, present))
    if total <= 0:
        return Statistics(0.0, 0.0, 0.0, highest)
    average = sum(value * spent for value, spent in seconds.items()) / total
    variance = sum(spent * (value - average) ** 2 for value, spent in seconds.items()) / total
    return Statistics(total, average, sqrt(variance), highest)
