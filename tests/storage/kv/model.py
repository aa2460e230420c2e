"""Model: the answers of a kv store, computed in the simplest way.

It keeps the list of all events and computes every answer from its start. It gets the revisions that the engine gave to
writes, and checks that they grow.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from aio_apiserver.storage.kv.interface import Event, EventType
from aio_apiserver.storage.record import Record

State = dict[bytes, Record]


@dataclass(slots=True)
class Model:
    """One prefix of a store. `base` is the store's revision before its first write."""

    base: int
    events: list[Event] = field(default_factory=list)
    leases: set[int] = field(default_factory=set)
    compact_revision: int = 0

    @property
    def revision(self) -> int:
        return self.events[-1].record.mod_revision if self.events else self.base

    @property
    def revisions(self) -> Sequence[int]:
        """All revisions with events, oldest first."""
        return [self.base, *dict.fromkeys(event.record.mod_revision for event in self.events)]

    def state(self, revision: int | None = None) -> State:
        """All records now, or at a revision."""
        state: State = {}
        for event in self.events:
            if revision is not None and event.record.mod_revision > revision:
                break
            if event.type is EventType.PUT:
                state[event.record.key] = event.record
            else:
                del state[event.record.key]
        return state

    def put(self, key: bytes, value: bytes, *, lease: int, revision: int) -> Record:
        """Write at the revision that the engine gave."""
        assert revision > self.revision
        old = self.state().get(key)
        if old is None:
            record = Record(key, value, revision, revision, 1, lease)
        else:
            record = Record(key, value, old.create_revision, revision, old.version + 1, lease)
        self.events.append(Event(EventType.PUT, record, old))
        return record

    def delete(self, keys: Iterable[bytes], *, revision: int) -> None:
        """Delete at the revision that the engine gave."""
        assert revision > self.revision
        state = self.state()
        for key in sorted(keys):
            self.events.append(Event(EventType.DELETE, Record(key, b"", 0, revision, 0), state[key]))

    def keys_of_lease(self, lease: int) -> list[bytes]:
        """The keys of the lease."""
        return sorted(key for key, record in self.state().items() if record.lease == lease)

    def is_deletion(self, revision: int) -> bool:
        """Whether keys were deleted at the revision."""
        return any(e.type is EventType.DELETE for e in self.events if e.record.mod_revision == revision)

    def range(self, start: bytes, end: bytes, revision: int | None = None) -> list[Record]:
        """The records of a range in key order, now or as they were."""
        state = self.state(revision)
        return [state[key] for key in sorted(state) if start <= key < end]

    def watched(self, start: bytes, end: bytes, revision: int) -> list[Event]:
        """All events that a watch of the range from the revision on must see."""
        return [e for e in self.events if start <= e.record.key < end and e.record.mod_revision >= revision]
