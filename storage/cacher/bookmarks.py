"""Bookmarks: sends BOOKMARK events to the clients' watches, about once a minute and shortly before their end.

A client resumes its watch from the revision of its last bookmark. The revision of the resource's last event would soon
be too old for that. So the cache requests the store's progress shortly before a bookmark is due.

Must hold: only a member of a group gets a bookmark, and its revision is the fan-out's position. The watcher's initial
events and all events up to there have been delivered. Without watchers that allow bookmarks nothing runs.
"""

import logging
from collections.abc import Mapping

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.jitter import chance
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.cacher.cache_watcher import CacheWatcher
from aio_apiserver.storage.cacher.fanout import Fanout
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.interface import Origin

logger = logging.getLogger(__name__)

PERIOD_SECONDS = 60.0
JITTER = 0.1
"""Each bookmark comes up to this share of the period early, so that watches that began together drift apart."""

LAST_SECONDS = 2.0
"""How long before its end a watch gets its last bookmark, so that the client can resume without events to catch up on.
"""

TICK_SECONDS = 1.0

REQUEST_SECONDS = 10.0
"""The shortest time between two progress requests: each answer goes to all caches of this process."""


class Bookmarks:
    """Sends bookmarks to the watchers of one resource."""

    def __init__(self, fanout: Fanout, origin: Origin, clock: Clock, tasks: Tasks) -> None:
        self._fanout = fanout
        self._origin = origin
        self._clock = clock
        self._tasks = tasks
        self._readers: set[CacheWatcher] = set()
        self._is_running = False
        self._asked_at = -REQUEST_SECONDS
        self._sent = 0

    def add(self, watcher: CacheWatcher) -> None:
        """Send bookmarks to this watcher until it ends."""
        watcher.last_due = self._clock.monotonic() + watcher.ends_in - LAST_SECONDS
        watcher.bookmark_due = self._next_due(watcher)
        self._readers.add(watcher)
        if not self._is_running:
            self._is_running = True
            self._tasks.spawn(self._run(), name="bookmarks")

    def statistics(self) -> Mapping[str, int]:
        return {"bookmarks": self._sent}

    async def _run(self) -> None:
        try:
            while self._readers:
                await self._clock.sleep(TICK_SECONDS)
                now = self._clock.monotonic()
                self._send(now)
                if self._should_ask(now):
                    self._asked_at = now
                    await self._ask_for_progress()
        finally:
            self._is_running = False

    def _should_ask(self, now: float) -> bool:
        """Whether a bookmark is due soon, and the store's answer would give it a newer revision."""
        if not self._origin.has_reliable_progress or now - self._asked_at < REQUEST_SECONDS:
            return False
        return any(watcher.bookmark_due <= now + 2 * TICK_SECONDS for watcher in self._readers)

    def _send(self, now: float) -> None:
        self._readers = {watcher for watcher in self._readers if not watcher.is_ended}
        due = [watcher for watcher in self._readers if watcher.bookmark_due <= now and watcher.group is not None]
        if not due:
            return
        for watcher in due:
            watcher.bookmark_due = self._next_due(watcher)
        self._fanout.send_bookmark(due)
        self._sent += len(due)

    def _next_due(self, watcher: CacheWatcher) -> float:
        now = self._clock.monotonic()
        period = PERIOD_SECONDS * chance.uniform(1 - JITTER, 1)
        return min(now + period, watcher.last_due) if now < watcher.last_due else now + period

    async def _ask_for_progress(self) -> None:
        try:
            await self._origin.request_progress()
        except StorageError as exc:
            logger.debug("progress could not be requested: %s", exc)
