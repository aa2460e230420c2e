"""CheckedWatch: a watch on an engine that compares all its events with the model.

A watcher sees every event of its range once, in order, with the right previous record. The previous record may be
missing after a compaction. A watcher learns that it is compacted when it is behind, and not otherwise.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from aio_apiserver.storage.errors import Compacted
from aio_apiserver.storage.kv.interface import Event, EventBatch
from tests.storage.kv.model import Model
from tests.storage.kv.steps import next_batch


@dataclass(slots=True)
class CheckedWatch:
    """A watch, and what it has seen."""

    model: Model
    start: bytes
    end: bytes
    revision: int
    context: AbstractAsyncContextManager[AsyncIterator[EventBatch]]
    batches: AsyncIterator[EventBatch]
    is_reliable: bool
    must_fail: bool
    seen: list[Event] = field(default_factory=list)
    is_over: bool = False

    @property
    def missing(self) -> list[Event]:
        """The events that are still to come."""
        return self.model.watched(self.start, self.end, self.revision)[len(self.seen) :]

    async def read(self, count: int) -> None:
        """Read `count` events more, or as many as the model has."""
        wanted = len(self.seen) + min(count, len(self.missing))
        while not self.is_over and (self.must_fail or len(self.seen) < wanted):
            try:
                self._take(await next_batch(self.batches))
            except Compacted:
                reached = self.seen[-1].record.mod_revision + 1 if self.seen else self.revision
                assert reached < self.model.compact_revision
                self.is_over = True

    def _take(self, batch: EventBatch) -> None:
        due = [event for event in self.missing if event.record.mod_revision <= batch.revision]
        if batch.is_progress:
            assert not self.is_reliable or not (due or self.must_fail)
            return
        assert not self.must_fail, "a watch of compacted history has no events"
        assert len(batch.events) == len(due)
        for event, expected in zip(batch.events, due, strict=True):
            assert (event.type, event.record) == (expected.type, expected.record)
            is_reachable = event.record.mod_revision > self.model.compact_revision
            assert event.previous == expected.previous or (event.previous is None and not is_reachable)
        assert batch.revision == batch.events[-1].record.mod_revision
        self.seen.extend(due)
