"""Sizes: ranges of how big values may be and of what work on them costs, for judging an expression before it runs.

Pure. Must hold: what is too big to count is HUGE, and stays so.
"""

import math
from typing import NamedTuple

HUGE = 2**64 - 1


class Range(NamedTuple):
    """From the least to the most."""

    low: int
    high: int

    def plus(self, other: "Range") -> "Range":
        return Range(min(self.low + other.low, HUGE), min(self.high + other.high, HUGE))

    def times(self, other: "Range") -> "Range":
        return Range(min(self.low * other.low, HUGE), min(self.high * other.high, HUGE))

    def scaled(self, factor: float) -> "Range":
        """By a factor, rounded up."""
        return Range(_scaled(self.low, factor), _scaled(self.high, factor))

    def joined(self, other: "Range") -> "Range":
        """What covers both."""
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
"""What any range joined to it leaves as it is."""
