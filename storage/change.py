"""Change: one key's step from one state to the next, and the watch event that it is for a watcher.

Must hold: the object of a DELETED event is made once, however many groups of watchers see it.
"""

from aio_apiserver.storage import watching
from aio_apiserver.storage.interface import WatchEvent, WatchEventType
from aio_apiserver.storage.selection import SelectionPredicate
from aio_apiserver.storage.stored_object import StoredObject

_CHANGE_BYTES = 200
_OBJECT_BYTES = 800
"""The memory of a change, and that of an object besides its bytes."""


class Change:
    """`previous` and `current` are the objects before and after (None: no object); `at` is the arrival on the clock."""

    __slots__ = ("_deletion", "at", "current", "key", "previous", "revision")

    def __init__(
        self, key: str, previous: StoredObject | None, *, current: StoredObject | None, revision: int, at: float
    ) -> None:
        self.key = key
        self.previous = previous
        self.current = current
        self.revision = revision
        self.at = at
        self._deletion: WatchEvent | None = None

    @property
    def size(self) -> int:
        """The bytes of the object in its event."""
        shown = self.current or self.previous
        return 0 if shown is None else shown.size

    @property
    def held_bytes(self) -> int:
        """The memory that goes with this change. A deletion has a second copy of its object, for the event."""
        if self.previous is None:
            return _CHANGE_BYTES
        copies = 1 if self.current is not None else 2
        return _CHANGE_BYTES + copies * (_OBJECT_BYTES + self.previous.size)

    def seen_through(self, predicate: SelectionPredicate) -> WatchEvent | None:
        """The event for a watcher with this predicate; None when it does not see the change. Raises Corrupt."""
        event = watching.seen_through(predicate, previous=self.previous, current=self.current, revision=self.revision)
        if event is None or event.type is not WatchEventType.DELETED:
            return event
        if self._deletion is None:
            self._deletion = event
        return self._deletion
