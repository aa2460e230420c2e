"""cel: the CEL expressions of Stages, for selectors, delays and weights.

CEL itself is imported at the first expression.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.deferred import Deferred

if TYPE_CHECKING:
    from aio_apiserver.registry.machinery.cel.environment import CelEnvironment
    from aio_apiserver.simulation.stages import expressions
else:
    expressions = Deferred("aio_apiserver.simulation.stages.expressions")

Random = Callable[[], float]
"""A number from 0 up to 1."""
Expression = Callable[[Object], Any]
"""The value for an object; None without one. A duration is a number of nanoseconds, as kwok reads it."""


class StageExpressions:
    """The expressions of one server, whose functions read its clock."""

    def __init__(self, clock: Clock, random: Random) -> None:
        self._clock = clock
        self._random = random
        self._environment: CelEnvironment | None = None

    def parse(self, given: Object) -> Expression:
        """An expression. Raises Unsupported."""
        if self._environment is None:
            self._environment = expressions.environment(self._clock, self._random)
        return expressions.parse(self._environment, str(given.get("expression") or ""))
