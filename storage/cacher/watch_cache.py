"""WatchCache: the present state of a resource and its recent changes, as the reflector has reported them.

Pure but for the clock that stamps changes. Nothing suspends, so that a reader between two awaits sees one revision.
Decodes nothing.

Must hold: state, window and revision move together; the revision never goes back; a change is taken once.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Protocol

from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.cacher import scope as scopes
from aio_apiserver.storage.cacher.key_indexes import bring_up_to_date
from aio_apiserver.storage.cacher.state import State
from aio_apiserver.storage.cacher.watermark import Watermark
from aio_apiserver.storage.cacher.window import Window
from aio_apiserver.storage.cacher.window_memory import WindowMemory
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.interface import WatchEvent, WatchEventType
from aio_apiserver.storage.selection import SelectionPredicate
from aio_apiserver.storage.stored_object import StoredObject


class ChangeListener(Protocol):
    """The receiver of all changes that the cache takes: the fan-out."""

    def changed(self, changes: Sequence[Change], revision: int) -> None:
        """Take all changes up to `revision`; there may be none."""
        ...

    @property
    def skips_gaps(self) -> bool:
        """Whether a watcher takes the difference of two states in place of the lost history."""
        ...

    def restarted(self, changes: Sequence[Change], revision: int) -> None:
        """The state was replaced and the history before `revision` is lost; `changes` is the difference, if a watcher
        takes it.
        """
        ...


class WatchCache:
    """The present state and the window of changes of one resource."""

    def __init__(
        self, clock: Clock, listener: ChangeListener, windows: WindowMemory, *, triggers: Sequence[str] = ()
    ) -> None:
        self.window = Window(windows)
        self.mark = Watermark()
        self.state = State()
        self._clock = clock
        self._listener = listener
        self._triggers = triggers
        self._events = 0

    @property
    def revision(self) -> int:
        """The revision up to which everything is known."""
        return self.mark.revision

    # What the reflector tells

    def replace(self, objects: Sequence[StoredObject], revision: int) -> None:
        """Start from a list that is not older than the present state."""
        assert revision >= self.revision
        changes = self._difference(objects, revision) if self._listener.skips_gaps else ()
        self.state.replace(objects)
        self.window.restart(revision)
        self.mark.advance(revision)
        self._listener.restarted(changes, revision)

    def apply(self, events: Sequence[WatchEvent]) -> None:
        """Take one batch of the store's watch: whole revisions in order, and bookmarks."""
        known, now = self.mark.revision, self._clock.monotonic()
        changes = []
        for event in events:
            if event.revision > known and event.object is not None:
                change = self._change(event, event.object, now)
                if change is not None:
                    changes.append(change)
                    self.window.append(change)
        revision = events[-1].revision
        if revision > known:
            self._events += len(changes)
            self.mark.advance(revision)
            self._listener.changed(changes, revision)

    # What readers ask

    def get(self, key: str) -> StoredObject | None:
        """The object as it is at `revision`."""
        return self.state.get(key)

    def unread(self, scope: str, predicate: SelectionPredicate) -> Sequence[StoredObject]:
        """The objects to decode before a call of `candidates`, so that it decodes none."""
        trigger = self._trigger(scope, predicate)
        return self.state.unread(trigger[0]) if trigger else ()

    def candidates(self, scope: str, predicate: SelectionPredicate) -> Sequence[StoredObject]:
        """The objects of a scope at `revision`, in key order, without those that an index excludes.

        The caller reads them before its next await, or copies them ([:]).
        """
        trigger = self._trigger(scope, predicate)
        if trigger is not None:
            field, value = trigger
            return self.state.having(field, value, scope=scope)
        labelled = self._labelled(scope, predicate)
        return self.state.span(scope) if labelled is None else labelled

    async def index(self, scope: str, predicate: SelectionPredicate) -> None:
        """Bring the index that `candidates` will use up to date, in several turns."""
        label = predicate.label if self._trigger(scope, predicate) is None else None
        index = self.state.index_of_label(label.name, scope=scope) if label is not None else None
        if index is not None:
            with contextlib.suppress(Corrupt):  # an object that no list may want
                await bring_up_to_date(index, self.state.objects, self._clock)

    def statistics(self) -> Mapping[str, object]:
        return {
            "revision": self.revision,
            "objects": len(self.state),
            "bytes": self.state.size(),
            "events_applied": self._events,
            "waiting_readers": len(self.mark),
            "window": self.window.statistics(),
        }

    def _labelled(self, scope: str, predicate: SelectionPredicate) -> Sequence[StoredObject] | None:
        label = predicate.label
        if label is None:
            return None
        with contextlib.suppress(Corrupt):
            return self.state.labelled(label.name, label.values, scope=scope)
        return None

    def _difference(self, objects: Sequence[StoredObject], revision: int) -> Sequence[Change]:
        """The changes from the present state to this one."""
        now = self._clock.monotonic()
        before = {stored.key: stored for stored in self.state.within("")}
        changes = []
        for stored in objects:
            previous = before.pop(stored.key, None)
            if previous is None or previous.revision != stored.revision:
                changes.append(Change(stored.key, previous, current=stored, revision=revision, at=now))
        changes += [Change(key, gone, current=None, revision=revision, at=now) for key, gone in before.items()]
        return changes

    def _change(self, event: WatchEvent, stored: StoredObject, now: float) -> Change | None:
        if event.type is not WatchEventType.DELETED:
            previous = self.state.put(stored)
            return Change(stored.key, previous, current=stored, revision=event.revision, at=now)
        previous = self.state.remove(stored.key)
        if previous is None:
            return None
        return Change(stored.key, previous, current=None, revision=event.revision, at=now)

    def _trigger(self, scope: str, predicate: SelectionPredicate) -> tuple[str, str] | None:
        if not predicate.fields or scopes.is_single(scope):
            return None
        for field in self._triggers:
            value = predicate.field_value(field)
            if value is not None:
                return field, value
        return None
