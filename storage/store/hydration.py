"""Hydration: decodes the stored objects of a Kubernetes list, and gathers those that cannot be read in one error.

Must hold: a long list is decoded in several turns of the event loop. A list with an object that cannot be read has no
item. The error names at most 100 objects, as in kube-apiserver.
"""

from collections.abc import Iterable

from aio_apiserver.base import tracing
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tracing import TraceLayer
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.storage.errors import Corrupt, CorruptObjects
from aio_apiserver.storage.stored_object import StoredObject

_MOST = 100


class Corruption:
    """The errors of the objects that a list has met."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: list[Corrupt] = []

    def add(self, exc: Corrupt) -> None:
        """Note an object that cannot be read. Raises CorruptObjects when there are too many."""
        if len(self._found) == _MOST:
            raise CorruptObjects(self._found, is_cut=True) from exc
        self._found.append(exc)

    def check(self) -> None:
        """Raise CorruptObjects unless all objects could be read."""
        if self._found:
            raise CorruptObjects(self._found, is_cut=False) from self._found[0]


async def hydrate(objects: Iterable[StoredObject], clock: Clock) -> None:
    """Decode the objects that are not decoded yet, in several turns. Raises CorruptObjects."""
    unread = [stored for stored in objects if stored.unread is not None]
    if unread:
        with tracing.timed(TraceLayer.DECODING):
            await _decode(unread, clock)


async def _decode(unread: Iterable[StoredObject], clock: Clock) -> None:
    corruption = Corruption()
    async for stored in in_turns(unread, clock):
        try:
            stored.hydrate()
        except Corrupt as exc:
            corruption.add(exc)
    corruption.check()
