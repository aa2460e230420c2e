"""Frames: the state of one CEL evaluation: its variables and its cost so far."""

from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.registry.machinery.cel.values import CostExceeded

CANCELLED = "operation cancelled: actual cost limit exceeded"


class Frame:
    """One evaluation. `spend` adds to its cost and enforces the limit."""

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
