"""Allocation: divides seats among priority levels in proportion to their demand, within the bounds of each level. Pure.

level     wants   between   of 100 seats
system      10     5 .. 60      20   twice its target, as every level within its bounds
workload    90    40 .. 50      50   its upper bound
default     15    10 .. 60      30
"""

from collections.abc import Sequence
from typing import NamedTuple

_LEAST_TARGET = 0.001


class Wish(NamedTuple):
    """The lower bound, the upper bound and the target of a level. lower <= target, lower <= upper."""

    lower: float
    upper: float
    target: float


class SeatAllocation(NamedTuple):
    """The seats of each level, and the factor on the targets of levels within their bounds."""

    seats: Sequence[float]
    proportion: float


def allocate(total: float, wishes: Sequence[Wish]) -> SeatAllocation | None:
    """Divide all seats; None when the bounds make that impossible."""
    wishes = [wish._replace(target=max(wish.target, _LEAST_TARGET)) for wish in wishes]
    if not sum(wish.lower for wish in wishes) <= total <= sum(wish.upper for wish in wishes):
        return None
    proportion = _proportion(total, wishes)
    return SeatAllocation([_bounded(wish, proportion) for wish in wishes], proportion)


def _proportion(total: float, wishes: Sequence[Wish]) -> float:
    """The factor at which all seats are given away. Between two bounds the sum is linear."""
    steps = sorted({bound / wish.target for wish in wishes for bound in (wish.lower, wish.upper)})
    reached, at = _sum(steps[0], wishes), steps[0]
    for step in steps[1:]:
        then = _sum(step, wishes)
        if then >= total:
            return at if then == reached else at + (step - at) * (total - reached) / (then - reached)
        reached, at = then, step
    return at


def _sum(proportion: float, wishes: Sequence[Wish]) -> float:
    return sum(_bounded(wish, proportion) for wish in wishes)


def _bounded(wish: Wish, proportion: float) -> float:
    return max(wish.lower, min(wish.upper, proportion * wish.target))
