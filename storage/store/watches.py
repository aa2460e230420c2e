"""Watches: watches on the kv engine without a cache; one task for each, which delivers events to its sink.

It decides where a watch starts and what comes first. When a sink does not keep up, the task waits, which holds back the
kv watch. When the sink's time budget is used up, the watch ends. It knows no write.

Must hold: a sink gets every change of its selection after the start, once and in order, or the watch ends. It gets
nothing after `end`. An event of an unfiltered watch costs some microseconds and is not decoded.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing

from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import Compacted, FutureRevision, RevisionExpired, StorageError
from aio_apiserver.storage.interface import WatchBatch, WatchEvent, WatchEventType, WatchOptions, WatchSink
from aio_apiserver.storage.kv.interface import KV, Event, EventType
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.store.listing import Listing
from aio_apiserver.storage.store.records import Records
from aio_apiserver.storage.versioner import MAX_REVISION
from aio_apiserver.storage.watching import seen_through

logger = logging.getLogger(__name__)

SLOW_BUDGET = 5.0
"""Seconds for which a sink may stay above its backlog limit."""

_SLOW_CHECK = 0.02
_FUTURE_CHECK = 0.25
_EXPIRED = "The resourceVersion for the provided watch is too old."


class WatchSource(Struct, kw_only=True):
    """The parts that the watches of one store share."""

    kv: KV
    records: Records
    listing: Listing
    clock: Clock
    slow_budget: float = SLOW_BUDGET
    delivered: int = 0
    ended_as_slow: int = 0


class StoreWatches:
    """The running watches of one store."""

    def __init__(self, source: WatchSource) -> None:
        self._source = source
        self._tasks = Tasks()
        self._running: set[StoreWatch] = set()

    async def start(self, key: str, options: WatchOptions, sink: WatchSink) -> "StoreWatch":
        """Start a watch. Raises RevisionExpired and other errors that are known at the start."""
        watch = StoreWatch(self._source, key, options, sink)
        await watch.open()
        self._running.add(watch)
        watch.task = self._tasks.spawn(watch.run(), name=f"watch of {key!r}")
        watch.task.add_done_callback(lambda _: self._running.discard(watch))
        return watch

    def statistics(self) -> dict[str, int]:
        return {
            "running": len(self._running),
            "delivered_events": self._source.delivered,
            "ended_as_slow": self._source.ended_as_slow,
        }

    async def close(self) -> None:
        """End all watches."""
        for watch in tuple(self._running):
            watch.stop()
        await self._tasks.close()


class _TooSlow(Exception):
    """The sink has used up its time budget."""


class StoreWatch:
    """One watch: `open` checks it, `run` delivers until it ends or is stopped."""

    def __init__(self, source: WatchSource, key: str, options: WatchOptions, sink: WatchSink) -> None:
        self.task: asyncio.Task[None] | None = None
        self._source = source
        self._key = key
        self._options = options
        self._sink = sink
        self._start, self._end = source.records.range_of(key, recursive=options.recursive)
        self._see = self._seen_by_all if options.predicate.is_everything else self._seen_selected
        self._revision = options.resource_version or 0
        self._is_ended = False

    @property
    def has_initial_events(self) -> bool:
        """Whether the watch begins with the present state."""
        return self._options.send_initial_events or not self._options.resource_version

    async def open(self) -> None:
        """Raise the errors that are known at the start."""
        if self.has_initial_events:
            self._revision = max(self._revision, await self._source.kv.current_revision())
            return
        try:
            await self._source.kv.get(self._start, revision=_behind(self._revision))
        except FutureRevision:
            pass
        except Compacted as exc:
            raise RevisionExpired(_EXPIRED) from exc

    async def run(self) -> None:
        """Deliver until the watch ends; `end` of the sink gets the reason."""
        try:
            if self.has_initial_events:
                await self._deliver_state()
            await self._deliver_changes()
        except Compacted:
            self._finish(RevisionExpired(_EXPIRED))
        except StorageError as exc:
            self._finish(exc)
        except _TooSlow:
            self._source.ended_as_slow += 1
            logger.warning("watch of %r ended: its reader was too slow", self._key)
        finally:
            self._finish(None)

    def stop(self) -> None:
        self._finish(None)
        if self.task is not None:
            self.task.cancel()

    async def _deliver_state(self) -> None:
        await self._wait_until_reached()
        predicate = self._options.predicate
        pages = self._source.listing.pages(self._key, self._revision, recursive=self._options.recursive)
        async with aclosing(pages):
            async for page in pages:
                await self._deliver(
                    [
                        WatchEvent(WatchEventType.ADDED, stored, stored.revision)
                        for stored in page
                        if predicate.is_everything or predicate.matches(stored)
                    ]
                )
        if self._options.send_initial_events and self._options.allow_bookmarks:
            await self._deliver([_bookmark(self._revision, ends_initial_events=True)])

    async def _deliver_changes(self) -> None:
        changes = self._source.kv.watch(self._start, self._end, revision=_behind(self._revision))
        async with changes as batches:
            async for batch in batches:
                if not batch.is_progress:
                    await self._deliver([seen for event in batch.events if (seen := await self._see(event))])
                elif self._options.allow_bookmarks:
                    await self._deliver([_bookmark(batch.revision)])

    async def _deliver(self, events: Sequence[WatchEvent]) -> None:
        if not events or self._is_ended:
            return
        self._source.delivered += len(events)
        self._sink.deliver(WatchBatch(events))
        if self._sink.backlog > self._sink.backlog_limit:
            await self._wait_until_taken()

    async def _wait_until_taken(self) -> None:
        """Wait until the sink is below its limit. Raises _TooSlow."""
        clock = self._source.clock
        deadline = clock.monotonic() + self._source.slow_budget
        while self._sink.backlog > self._sink.backlog_limit:
            if clock.monotonic() >= deadline:
                raise _TooSlow
            await clock.sleep(_SLOW_CHECK)

    async def _wait_until_reached(self) -> None:
        """Wait until the store has reached the revision of the initial state."""
        while self._revision > await self._source.kv.current_revision():
            await self._source.clock.sleep(_FUTURE_CHECK)

    async def _seen_by_all(self, event: Event) -> WatchEvent:
        """The event for a watcher of everything. It decodes nothing, and reads the previous state for a deletion."""
        record = event.record
        if event.type is EventType.PUT:
            stored = await self._source.records.read(record)
            type_ = WatchEventType.ADDED if event.is_create else WatchEventType.MODIFIED
            return WatchEvent(type_, stored, record.mod_revision)
        stored = await self._source.records.read_state(_previous(event), record.mod_revision)
        return WatchEvent(WatchEventType.DELETED, stored, record.mod_revision)

    async def _seen_selected(self, event: Event) -> WatchEvent | None:
        """The event for a watcher with a predicate; None when the change does not concern it."""
        record, read = event.record, self._source.records.read
        return seen_through(
            self._options.predicate,
            previous=None if event.is_create else await read(_previous(event)),
            current=await read(record) if event.type is EventType.PUT else None,
            revision=record.mod_revision,
        )

    def _finish(self, reason: StorageError | None) -> None:
        if not self._is_ended:
            self._is_ended = True
            self._sink.end(reason)


def _previous(event: Event) -> Record:
    """The record before a change. Raises Compacted when the engine no longer has it."""
    if event.previous is None:
        raise Compacted(event.record.mod_revision - 1, event.record.mod_revision)
    return event.previous


def _behind(revision: int) -> int:
    """The first revision that a watch from `revision` delivers."""
    return min(revision + 1, MAX_REVISION)


def _bookmark(revision: int, *, ends_initial_events: bool = False) -> WatchEvent:
    return WatchEvent(WatchEventType.BOOKMARK, None, revision, ends_initial_events=ends_initial_events)
