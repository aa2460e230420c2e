"""Reflector: keeps a WatchCache up to date with the store: it lists, watches from the list's revision, and starts
again.

A watch that ends is resumed after the cache's newest revision: no event is lost, and the watchers do not notice. When
the store has compacted that revision, the list is made anew.

The events in between are lost then. A list shows that an object changed, but not how often, and not the objects that
were created and deleted in between. Events made from the difference would hide that from the watchers. So the watches
end instead (WatchCache notifies the fan-out): the clients resume at a revision that is too old, and list, too. Each
watch has seen every event once and in order up to its end. A watcher with `skips_gaps` needs the present state alone,
and does get the difference.

Must hold: the cache never goes back. A list that is older than the cache is refused, and the reflector lists again
after a pause. Such a list comes from a restored store, or from a member that lags.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.jitter import chance
from aio_apiserver.storage.cacher.readiness import Gate
from aio_apiserver.storage.cacher.watch_cache import WatchCache
from aio_apiserver.storage.errors import (
    Closed,
    Compacted,
    Corrupt,
    RevisionExpired,
    StorageError,
    Unavailable,
    Untranslatable,
)
from aio_apiserver.storage.interface import (
    ListOptions,
    Origin,
    Resource,
    WatchBatch,
    WatchEventType,
    WatchOptions,
)
from aio_apiserver.storage.stored_object import StoredObject

logger = logging.getLogger(__name__)

PAGE = 1_000
"""The objects in the first page of a list. The size of the next pages depends on the size of these objects. It at most
doubles from page to page, since larger objects may follow.
"""
_MOST = 50_000
_PAGE_BYTES = 32 * 1024 * 1024
"""The size of a page after the first one. Stores count the rest of the range for each page, so that small pages would
take quadratic time; large ones would hold all their values twice.
"""

SHORTEST_PAUSE = 0.1
LONGEST_PAUSE = 5.0


class Reflector:
    """Feeds one cache from its origin. Reports every bookmark, and the closing of the origin."""

    def __init__(
        self,
        origin: Origin,
        cache: WatchCache,
        gate: Gate,
        *,
        resource: Resource,
        clock: Clock,
        on_bookmark: Callable[[], None],
        on_closed: Callable[[Closed], None],
    ) -> None:
        self._origin = origin
        self._cache = cache
        self._gate = gate
        self._resource = resource
        self._clock = clock
        self._on_bookmark = on_bookmark
        self._on_closed = on_closed
        self._pause = SHORTEST_PAUSE
        self._must_list = True
        self._lists = 0
        self._watches = 0
        self._refused_lists = 0
        self._bookmarks = 0
        self.is_following = False

    async def run(self) -> None:
        """Follow the store until cancelled or until it is closed."""
        while True:
            try:
                await self._follow()
                continue
            except Closed as exc:
                self._on_closed(exc)
                return
            except StorageError as exc:
                self._note(exc)
            except Exception as exc:  # a fault of the origin must not leave a cache that is silently out of date
                logger.exception("reflector failed")
                self._gate.report(StorageError(f"{type(exc).__name__}: {exc}"))
            await self._clock.sleep(self._pause * chance.uniform(0.8, 1.2))
            self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def statistics(self) -> Mapping[str, int | bool]:
        return {
            "following": self.is_following,
            "lists": self._lists,
            "relists": max(self._lists - 1, 0),
            "refused_lists": self._refused_lists,
            "watches": self._watches,
            "bookmarks": self._bookmarks,
        }

    async def _follow(self) -> None:
        """Watch once until the watch ends. Raises its error, unless only a new list helps.

        A new list needs no pause before it: it takes as long as the store needs for it.
        """
        if self._must_list:
            await self._list()
        session = _Session(self._take)
        options = WatchOptions(resource_version=self._cache.revision, allow_bookmarks=True)
        watch = await self._origin.watch("", options, session)
        self._watches += 1
        self.is_following = not session.ended.done()
        begun = self._clock.monotonic()
        try:
            reason = await session.ended
        finally:
            self.is_following = False
            watch.stop()
        if self._clock.monotonic() - begun >= LONGEST_PAUSE:
            self._pause = SHORTEST_PAUSE
        if not isinstance(reason, RevisionExpired | Compacted):
            raise reason or Unavailable("the watch of the store ended")
        self._must_list = True
        logger.info("cache: the watch revision was compacted, listing again: %s", reason)

    async def _list(self) -> None:
        objects, revision = await self._all_pages()
        if revision < self._cache.revision:
            self._refused_lists += 1
            raise Unavailable(f"the store is at revision {revision}, the cache has seen {self._cache.revision}")
        self._lists += 1
        self._must_list = False
        self._cache.replace(objects, revision)

    async def _all_pages(self) -> tuple[list[StoredObject], int]:
        objects: list[StoredObject] = []
        token, limit = "", PAGE
        while True:
            page = await self._origin.get_list("", ListOptions(limit=limit, continue_token=token))
            objects.extend(page.items)
            token = page.continue_token
            if not token:
                return objects, page.revision
            limit = _next_limit(page.items, limit)

    def _take(self, batch: WatchBatch) -> None:
        self._pause = SHORTEST_PAUSE
        events = batch.events
        if events[-1].type is not WatchEventType.BOOKMARK:
            self._cache.apply(events)
        elif self._origin.has_reliable_progress:
            self._cache.apply(events)
            self._bookmarks += 1
            self._on_bookmark()

    def _note(self, reason: StorageError) -> None:
        self._gate.report(reason)
        if isinstance(reason, RevisionExpired | Compacted):
            self._must_list = True
        resource = self._resource
        if isinstance(reason, Untranslatable) and resource.translation is not None:
            text = "cache: %s cannot be converted to %s, trying again: %s; %s"
            logger.warning(text, resource.name, resource.view, reason, resource.translation.advice)
        elif isinstance(reason, Corrupt):
            logger.warning("cache: an object of %s cannot be read, trying again: %s", resource.name, reason)
        else:  # in the same words for all resources: repeated warnings are left out
            logger.warning("cache: watch on the store lost, reconnecting: %s", reason)


def _next_limit(seen: Sequence[StoredObject], limit: int) -> int:
    """The objects to request next, by the size of the last ones and the limit of their page."""
    sample = seen[-PAGE:]
    usual = 1 + sum(stored.size for stored in sample) // max(len(sample), 1)
    return min(max(_PAGE_BYTES // usual, 1), 2 * limit, _MOST)


class _Session:
    """The sink of one watch: passes batches on until the watch ends, so that an older watch's events cannot mix in."""

    backlog = 0
    backlog_limit = 0

    def __init__(self, take: Callable[[WatchBatch], None]) -> None:
        self.ended: asyncio.Future[StorageError | None] = asyncio.get_running_loop().create_future()
        self._take = take

    def deliver(self, batch: WatchBatch) -> None:
        if not self.ended.done():
            self._take(batch)

    def end(self, reason: StorageError | None) -> None:
        if not self.ended.done():
            self.ended.set_result(reason)
