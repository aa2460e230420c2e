"""Allocation: seats divided among priority levels in proportion to what they want, within what each may have. Pure.

level     wants   between      of 100 seats
system      10     5 ..  60        20            twice what it wants, as everybody
workload    90    40 ..  50        50            more than its upper bound is not allowed
default     15    10 ..  60        30
"""

from collections.abc import Sequence
from typing import NamedTuple

_LEAST_TARGET = 0.001


class Wish(NamedTuple):
    """What a level should have at least, may have at most, and wants. lower <= target, lower <= upper."""

    lower: float
    upper: float
    target: float


class Allocation(NamedTuple):
    """What each gets, and by how much targets were multiplied where bounds do not matter."""

    seats: Sequence[float]
    proportion: float


def allocate(total: float, wishes: Sequence[Wish]) -> Allocation | None:
    """Divide everything; None when the bounds do not allow that."""
    wishes = [wish._replace(target=max(wish.target, _LEAST_TARGET)) for wish in wishes]
    if not sum(wish.lower for wish in wishes) <= total <= sum(wish.upper for wish in wishes):
        return None
    proportion = _proportion(total, wishes)
    return Allocation([_bounded(wish, proportion) for wish in wishes], proportion)


def _proportion(total: float, wishes: Sequence[Wish]) -> float:
    """The factor at which everything is given away: between two bounds the sum grows in a straight line."""
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
