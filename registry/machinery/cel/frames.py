"""Frames: the state of one CEL evaluation: its variables, its cost so far, and its budget.

The cost is kube-apiserver's, and clients see it. It says little of the memory and the time of some functions: `replace`
can make a gigabyte at a cost of 200. So functions pay a budget, too, before they compute.
"""

from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.base.budget import Budget, BudgetLimits
from aio_apiserver.registry.machinery.cel.values import CostExceeded

CANCELLED = "operation cancelled: actual cost limit exceeded"
LIMITS = BudgetLimits(steps=2_000_000, bytes_made=32 * 1024 * 1024)
"""What the functions of one evaluation may do and make."""


class Frame:
    """One evaluation. `spend` adds to its cost and enforces the limit."""

    __slots__ = ("budget", "cost", "limit", "variables")

    def __init__(self, variables: Mapping[str, Any], limit: int, budget: Budget) -> None:
        self.variables = dict(variables)
        self.cost = 0
        self.limit = limit
        self.budget = budget

    def spend(self, cost: int) -> None:
        self.cost += cost
        if self.cost > self.limit:
            raise CostExceeded(CANCELLED)


Step = Callable[[Frame], Any]
