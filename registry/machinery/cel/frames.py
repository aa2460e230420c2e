"""Frames: one evaluation, its variables, and what it has cost so far."""

from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.registry.machinery.cel.values import CostExceeded

CANCELLED = "operation cancelled: actual cost limit exceeded"


class Frame:
    """One evaluation: the variables, and what it has cost."""

    __slots__ = ("cost", "limit", "variables")

    def __init__(self, variables: Mapping[str, Any], limit: int) -> None:
        self.variables = dict(variables)
        self.cost = 0
        self.limit = limit

    def spend(self, cost: int) -> None:
        self.cost += cost
        if self.cost > self.limit:
            raise CostExceeded(CANCELLED)


Step = Callable[[Frame], Any]
