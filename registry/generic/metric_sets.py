"""metric_sets: the metrics that the registry counts for one server, by the class that declares them.

A plugin or an API group gets its own set by that class, so that this floor does not import them. The server publishes
them under names (apiserver/metrics). Must hold: a server has one set of each class, made at its first use.
"""

from typing import TypeVar

M = TypeVar("M")


class MetricSets:
    """The sets of one server."""

    def __init__(self) -> None:
        self._sets: dict[type, object] = {}

    def of(self, declared: type[M]) -> M:
        """The server's set of a class."""
        found = self._sets.get(declared)
        if not isinstance(found, declared):
            found = self._sets[declared] = declared()
        return found
