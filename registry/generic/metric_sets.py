"""metric_sets: the counts of one server that the registry keeps, by the class that declares them.

A plugin or an API group asks for its own set by that class, so that this floor has to import none of them. The server
publishes them under names (apiserver/metrics). Must hold: of each class a server has one set, which is there from the
first request for it on.
"""

from typing import TypeVar

M = TypeVar("M")


class MetricSets:
    """Of one server."""

    def __init__(self) -> None:
        self._sets: dict[type, object] = {}

    def of(self, declared: type[M]) -> M:
        """The server's set of a class."""
        found = self._sets.get(declared)
        if not isinstance(found, declared):
            found = self._sets[declared] = declared()
        return found
