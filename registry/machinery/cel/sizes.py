"""Sizes: ranges of sizes and costs for the estimates of CEL expressions.

Pure. Must hold: a value beyond 64 bits is HUGE, and stays HUGE.
"""

import math
from typing import NamedTuple

HUGE = 2**64 - 1


class Range(NamedTuple):
    """A range from the lowest to the highest value."""

    low: int
    high: int

    def plus(self, other: "Range") -> "Range":
        return Range(min(self.low + other.low, HUGE), min(self.high + other.high, HUGE))

    def times(self, other: "Range") -> "Range":
        return Range(min(self.low * other.low, HUGE), min(self.high * other.high, HUGE))

    def scaled(self, factor: float) -> "Range":
        """Both ends times a factor, rounded up."""
        return Range(_scaled(self.low, factor), _scaled(self.high, factor))

    def joined(self, other: "Range") -> "Range":
        """The smallest range that contains both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


def _scaled(value: int, factor: float) -> int:
    product = math.ceil(float(value) * factor)
    return min(HUGE, product)


def exactly(count: int) -> Range:
    return Range(count, count)


UNKNOWN = Range(0, HUGE)
NOTHING = exactly(0)
ONE = exactly(1)
EMPTY_UNION = Range(HUGE, 0)
"""The neutral element of `joined`."""
