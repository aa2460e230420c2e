"""Catching up: brings watchers up to the fan-out's position, each at the pace of its client.

A watcher starts here with the state, or with the changes that it has missed, in portions. It comes back when its sink
does not keep up. Then the feeder waits until the sink is below its limit, and continues from the window. Watchers with
the same portion share its bytes. So a slow watcher holds at most its sink's limit and one portion in memory.

Must hold: a portion ends with the object that fills PORTION_BYTES. The feeder's events end exactly where the group's
batches begin. A watch ends when its sink stays above its limit for longer than its patience, or when it falls behind
the window.
"""

import asyncio
from collections.abc import Mapping

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.yielding import Share
from aio_apiserver.storage.cacher import scope as scopes
from aio_apiserver.storage.cacher.cache_watcher import CacheWatcher, bookmark
from aio_apiserver.storage.cacher.fanout import Fanout
from aio_apiserver.storage.cacher.recent_frames import RecentFrames
from aio_apiserver.storage.cacher.slow_watch_budget import TimeBudget
from aio_apiserver.storage.cacher.watch_cache import WatchCache
from aio_apiserver.storage.errors import Corrupt, RevisionExpired, StorageError
from aio_apiserver.storage.interface import WatchBatch, WatchEvent, WatchEventType

GRACE_SECONDS = 5.0
"""How long any sink may stay above its limit; the shared time budget adds to it."""

PORTION_BYTES = 256 * 1024
"""The bytes of the objects in a portion, which is encoded for one watcher."""

SHORTEST_PAUSE = 0.01
LONGEST_PAUSE = 0.25
"""The longest pause between two checks of a sink above its limit: a sink does not report that it has sent something."""


class Feeder:
    """Feeds the watchers that are not members of a group."""

    def __init__(self, cache: WatchCache, fanout: Fanout, clock: Clock, tasks: Tasks) -> None:
        self._cache = cache
        self._fanout = fanout
        self._clock = clock
        self._tasks = tasks
        self._budget = TimeBudget(clock)
        self._portions = RecentFrames()
        self._feeding = 0
        self._slowed = 0
        self._dropped = 0

    def start(self, watcher: CacheWatcher) -> None:
        """Begin a watch with one portion, so that a short start is complete on return. Raises RevisionExpired."""
        self._fanout.flush()
        self._fanout.watchers.add(watcher)
        try:
            is_done = self._advance(watcher)
        except StorageError:
            self._fanout.watchers.discard(watcher)
            raise
        if not is_done:
            self._feed(watcher)

    def slow_down(self, watcher: CacheWatcher) -> None:
        """Take over a watcher whose sink is above its limit."""
        self._slowed += 1
        self._feed(watcher)

    def statistics(self) -> Mapping[str, int]:
        return {"slowed_watchers": self._slowed, "dropped_watchers": self._dropped}

    def _feed(self, watcher: CacheWatcher) -> None:
        watcher.feeding = self._tasks.spawn(self._catch_up(watcher), name="feed watcher")

    async def _catch_up(self, watcher: CacheWatcher) -> None:
        self._feeding += 1
        try:
            while await self._is_taken(watcher):
                if watcher.initial is None:
                    await self._fanout.position.expect(watcher.revision)
                if self._advance(watcher):
                    return
        except (RevisionExpired, Corrupt) as exc:
            self._fanout.end(watcher, exc)
        finally:
            self._feeding -= 1
            if not self._feeding:
                self._portions.clear()

    def _advance(self, watcher: CacheWatcher) -> bool:
        """Deliver one portion; returns whether the watcher needs no more feeding. Raises RevisionExpired, Corrupt."""
        share = Share(self._clock)
        events = self._missed(watcher, share) if watcher.initial is None else _initial(watcher, share)
        if events:
            self._fanout.send((watcher,), WatchBatch(events, self._portions))
        if watcher.is_ended:
            return True
        if watcher.initial is not None or watcher.revision != self._fanout.position.revision or watcher.is_slow():
            return False
        self._fanout.join(watcher)
        watcher.feeding = None
        return True

    def _missed(self, watcher: CacheWatcher, share: Share) -> list[WatchEvent]:
        """The watcher's events for the next changes up to the fan-out's position; its revision moves on."""
        events: list[WatchEvent] = []
        position = self._fanout.position.revision
        size, is_over = 0, False
        for change in self._cache.window.behind(watcher.revision):
            if change.revision > position:
                break
            if is_over and change.revision != watcher.revision:
                return events
            if scopes.holds(watcher.scope, change.key):
                event = change.seen_through(watcher.predicate)
                if event is not None:
                    events.append(_readable(event))
                    size += _size(event)
            watcher.revision = change.revision
            is_over = share.step() or is_over or size >= PORTION_BYTES
        watcher.revision = max(watcher.revision, position)
        return events

    async def _is_taken(self, watcher: CacheWatcher) -> bool:
        """Wait until the sink is below its limit; False when that took too long and the watch was ended."""
        if not watcher.is_slow():
            await asyncio.sleep(0)
            return True
        extra = self._budget.take()
        deadline = self._clock.monotonic() + GRACE_SECONDS + extra
        pause = SHORTEST_PAUSE
        try:
            while watcher.is_slow():
                left = deadline - self._clock.monotonic()
                if left <= 0:
                    self._drop(watcher)
                    return False
                await self._clock.sleep(min(pause, left))
                pause = min(2 * pause, LONGEST_PAUSE)
            return True
        finally:
            self._budget.give_back(min(extra, deadline - self._clock.monotonic()))

    def _drop(self, watcher: CacheWatcher) -> None:
        self._dropped += 1
        self._fanout.end(watcher, None)


def _initial(watcher: CacheWatcher, share: Share) -> list[WatchEvent]:
    """The watcher's events for the next objects of its initial state, and the bookmark that ends them."""
    assert watcher.initial is not None
    predicate = watcher.predicate
    events: list[WatchEvent] = []
    size = 0
    for stored in watcher.initial:
        stored.hydrate()
        if predicate.is_everything or predicate.matches(stored):
            events.append(WatchEvent(WatchEventType.ADDED, stored, stored.revision))
            size += stored.size
        if share.step() or size >= PORTION_BYTES:
            return events
    watcher.initial = None
    if watcher.marks_initial:
        events.append(bookmark(watcher.revision, ends_initial_events=True))
    return events


def _size(event: WatchEvent) -> int:
    assert event.object is not None
    return event.object.size


def _readable(event: WatchEvent) -> WatchEvent:
    assert event.object is not None
    event.object.hydrate()
    return event
