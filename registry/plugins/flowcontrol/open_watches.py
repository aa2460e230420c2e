"""Open watches: the number of open watches that a write reaches. Pure.

Must hold: watches with a selector on an indexed field (pods of one node) do not count, because few of them get an
event.
"""

from collections.abc import Callable
from typing import NamedTuple

from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.machinery.selectors import fields
from aio_apiserver.storage.selection import Operator

_INDEXED = {PODS.plural: "spec.nodeName"}


class WatchScope(NamedTuple):
    """The scope of a watch: a resource, and in it a namespace or an object."""

    group: str
    resource: str
    namespace: str = ""
    name: str = ""


class OpenWatches:
    """Counts open watches by scope."""

    def __init__(self) -> None:
        self._open: dict[WatchScope, int] = {}

    def opened(self, watched: WatchScope, field_selector: str) -> Callable[[], None]:
        """Count a watch. Returns the function that ends it."""
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

    def reached(self, written: WatchScope) -> int:
        """The number of watches that a write reaches."""
        counts = self._open
        if not counts:
            return 0
        group, resource, namespace, name = written
        found = counts.get(WatchScope(group, resource), 0)
        if namespace:
            found += counts.get(WatchScope(group, resource, namespace), 0)
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
    """The end of a watch that was not counted."""
