"""metric_sets: the metrics of one server that the registry records, by the class that declares them.

A plugin or an API group asks for its own set by that class, so that this floor has to import none of them. Must hold:
of each class a server has one set, which is there from the first request for it on.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from aio_apiserver.storage.measures import AnyFamily


class MetricSet(Protocol):
    """Metrics that belong together."""

    def families(self) -> Iterable[AnyFamily]:
        """Everything that is recorded here."""
        ...


M = TypeVar("M", bound=MetricSet)


class MetricSets:
    """Of one server."""

    def __init__(self) -> None:
        self._sets: dict[type[MetricSet], MetricSet] = {}

    def of(self, declared: type[M]) -> M:
        """The server's set of a class."""
        found = self._sets.get(declared)
        if not isinstance(found, declared):
            found = self._sets[declared] = declared()
        return found

    def families(self) -> Iterator[AnyFamily]:
        """The metrics of all sets that were asked for, in that order."""
        for one in self._sets.values():
            yield from one.families()
