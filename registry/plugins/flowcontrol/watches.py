"""Watches that are open, and how many of them a write has to reach. Pure.

Must hold: watches with a selector for what is indexed (the pods of one node) do not count: few of them hear of one
change.
"""

from collections.abc import Callable
from typing import NamedTuple

from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.machinery.selectors import fields
from aio_apiserver.storage.selection import Operator

_INDEXED = {"pods": "spec.nodeName"}


class Watched(NamedTuple):
    """A resource, and within it a namespace or an object, if the watch is about less than all."""

    group: str
    resource: str
    namespace: str = ""
    name: str = ""


class OpenWatches:
    """Counts them."""

    def __init__(self) -> None:
        self._open: dict[Watched, int] = {}

    def opened(self, watched: Watched, field_selector: str) -> Callable[[], None]:
        """Count one. Returns what takes it away again."""
        if field_selector and _is_indexed(watched.resource, field_selector):
            return _nothing
        self._open[watched] = self._open.get(watched, 0) + 1

        def closed() -> None:
            left = self._open[watched] - 1
            if left:
                self._open[watched] = left
            else:
                del self._open[watched]

        return closed

    def reached(self, written: Watched) -> int:
        """How many watches a write concerns."""
        counts = self._open
        if not counts:
            return 0
        group, resource, namespace, name = written
        found = counts.get(Watched(group, resource), 0)
        if namespace:
            found += counts.get(Watched(group, resource, namespace), 0)
        if name:
            found += counts.get(written, 0)
        return found


def _is_indexed(resource: str, field_selector: str) -> bool:
    field = _INDEXED.get(resource)
    if field is None:
        return False
    try:
        terms = fields.terms(field_selector)
    except BadRequest:
        return False
    return any(name == field and operator is Operator.IN and value for name, operator, value in terms)


def _nothing() -> None:
    """Was not counted."""
