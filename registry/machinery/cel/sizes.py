"""Sizes: ranges of sizes and costs for the estimates of CEL expressions.

Pure. Must hold: a value beyond 64 bits is HUGE, and stays HUGE.
"""

import math
from typing import NamedTuple

HUGE = 2**64 - 1


class EstimateRange(NamedTuple):
    """A range from the lowest to the highest value."""

    low: int
    high: int

    def plus(self, other: "EstimateRange") -> "EstimateRange":
        return EstimateRange(min(self.low + other.low, HUGE), min(self.high + other.high, HUGE))

    def times(self, other: "EstimateRange") -> "EstimateRange":
        return EstimateRange(min(self.low * other.low, HUGE), min(self.high * other.high, HUGE))

    def scaled(self, factor: float) -> "EstimateRange":
        """Both ends times a factor, rounded up."""
        return EstimateRange(_scaled(self.low, factor), _scaled(self.high, factor))

    def joined(self, other: "EstimateRange") -> "EstimateRange":
        """The smallest range that contains both."""
        return EstimateRange(min(self.low, other.low), max(self.high, other.high))


def _scaled(value: int, factor: float) -> int:
    product = math.ceil(float(value) * factor)
    return min(HUGE, product)


def exactly(count: int) -> EstimateRange:
    return EstimateRange(count, count)


UNKNOWN = EstimateRange(0, HUGE)
NOTHING = exactly(0)
ONE = exactly(1)
EMPTY_UNION = EstimateRange(HUGE, 0)
"""The neutral element of `joined`."""
