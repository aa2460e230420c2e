"""Cacher: Storage on top of an Origin, with the resource's state and recent changes in memory.

The cache answers a read or watch wherever its answer cannot be told from the store's. Writes go to the origin. Which
read goes where (N > 0; "fresh" waits until the cache has come to N, see freshness.py):

    match          unset, no token     0            N, limit      N, no limit    any, continue token
    unset          newest              at hand      origin        fresh          as it was, or origin
    NotOlderThan   -                   at hand      fresh         fresh          -
    Exact          -                   -            origin        origin         -

A list of version 0 ignores its limit, as in kube-apiserver. The first read, watch or wait starts the cache, so that an
unused resource costs nothing. Until the cache is filled, gets go to the origin, and lists and watches wait.

The parts: a reflector fills a WatchCache, which notifies a Fanout. A Feeder brings watchers up to the fan-out's
position.

Must hold: what storage/interface.py demands of a Storage. The origin belongs to the Cacher, which closes it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from msgspec.structs import replace

from aio_apiserver.base import tracing
from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.cacher import scope as scopes
from aio_apiserver.storage.cacher.bookmarks import Bookmarks
from aio_apiserver.storage.cacher.cache_lag import Lag
from aio_apiserver.storage.cacher.catching_up import Feeder
from aio_apiserver.storage.cacher.continuing import continued
from aio_apiserver.storage.cacher.fanout import Fanout
from aio_apiserver.storage.cacher.freshness import Freshness
from aio_apiserver.storage.cacher.older_history import OlderHistory
from aio_apiserver.storage.cacher.pages import page_of
from aio_apiserver.storage.cacher.progress import Progress
from aio_apiserver.storage.cacher.readiness import Gate
from aio_apiserver.storage.cacher.reflector import Reflector
from aio_apiserver.storage.cacher.revision_check import RevisionCheck
from aio_apiserver.storage.cacher.watch_cache import WatchCache
from aio_apiserver.storage.cacher.watches import Watches
from aio_apiserver.storage.cacher.window_memory import WindowMemory
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.errors import Closed, KeyNotFound, StorageError
from aio_apiserver.storage.interface import (
    DeleteCall,
    ListOptions,
    ListResult,
    Origin,
    Resource,
    ResourceVersionMatch,
    TryUpdate,
    UpdateCall,
    Watch,
    WatchOptions,
    WatchSink,
)
from aio_apiserver.storage.store import listing
from aio_apiserver.storage.stored_object import StoredObject

READY_SECONDS = 10.0
"""How long a request waits for the cache to be filled for the first time."""


class Cacher:
    """The objects of one resource, cached."""

    def __init__(
        self, origin: Origin, resource: Resource, windows: WindowMemory, *, clock: Clock | None = None
    ) -> None:
        self._origin = origin
        self._resource = resource
        self._clock = clock = clock or SystemClock()
        self._tasks = tasks = Tasks()
        self._fanout = Fanout(resource.triggers, clock, tasks, on_slow=lambda watcher: self._feeder.slow_down(watcher))
        self._cache = WatchCache(clock, self._fanout, windows, triggers=resource.triggers)
        self._gate = Gate(self._cache.mark, clock)
        self._feeder = Feeder(self._cache, self._fanout, clock, tasks)
        self._progress = Progress(origin, clock, tasks)
        self._reflector = Reflector(
            origin,
            self._cache,
            self._gate,
            resource=resource,
            clock=clock,
            on_bookmark=self._progress.answered,
            on_closed=self._end,
        )
        self._is_translated = resource.translation is not None
        self._answers_alone = not self._is_translated
        """Whether a get of the newest object needs no question when the cache has all that the store has."""
        self._name = resource.name
        self._lag = Lag(self._cache.mark, clock, self._name)
        self._freshness = Freshness(
            origin,
            self._cache,
            reflector=self._reflector,
            check=RevisionCheck(origin, tasks),
            progress=self._progress,
            lag=self._lag,
            clock=clock,
        )
        self._watches = Watches(
            self._cache,
            freshness=self._freshness,
            older=OlderHistory(origin, self._cache, windows.history_turn, clock),
            fanout=self._fanout,
            feeder=self._feeder,
            bookmarks=Bookmarks(self._fanout, origin, clock, tasks),
            clock=clock,
            tasks=tasks,
        )
        self._lists = self._listed_from = self._listed = 0
        self._is_started = False
        self._has_ended = False
        self._is_closed = False

    # Writes

    async def create(self, key: str, obj: Object, *, ttl: int = 0) -> StoredObject:
        return self._noted(await self._origin.create(key, obj, ttl=ttl))

    async def guaranteed_update(self, key: str, try_update: TryUpdate, **call: Unpack[UpdateCall]) -> StoredObject:
        call["suggestion"] = self._newer(key, call.get("suggestion"))
        return self._noted(await self._origin.guaranteed_update(key, try_update, **call))

    async def delete(self, key: str, **call: Unpack[DeleteCall]) -> StoredObject:
        call["suggestion"] = self._newer(key, call.get("suggestion"))
        return self._noted(await self._origin.delete(key, **call))

    async def preview(self, key: str, obj: Object) -> StoredObject:
        return await self._origin.preview(key, obj)

    # Reads

    def recent_changes(self, revision: int, most: int) -> Sequence[Change]:
        """The changes after `revision` that the window still has, at most so many of the newest."""
        return self._cache.window.newest(revision, most)

    async def get(self, key: str, *, resource_version: int | None = None) -> StoredObject:
        if resource_version is None and self._answers_alone and self._freshness.has_all():
            suffices = True
        elif not self._start() or (resource_version is None and self._is_translated):
            suffices = False  # a conversion webhook is called for each object that must be new: its answer may change
        elif resource_version is None:
            suffices = await self._freshness.has_newest(key)
        else:
            suffices = await self._freshness.suffices(resource_version)
        if not suffices:
            return self._noted(await self._origin.get(key, resource_version=resource_version))
        stored = self._cache.state.get(key)
        if stored is None:
            raise KeyNotFound(key, self._cache.revision)
        if stored.unread is not None:
            stored.hydrate()
        return stored

    async def get_list(self, key: str, options: ListOptions) -> ListResult:
        listing.check(options)
        page = await self._continued(key, options)
        if page is not None:
            return page
        if _belongs_to_origin(options) or self._may_never_fill(options):
            return await self._freshness.list_at_origin(key, _whole(options))
        await self.wait_until_ready()
        tracing.current().step("Ready")
        scope = self._scope(key, options)
        present = await self._freshness.present(scope, options.predicate, options.resource_version)
        if present is None:
            return await self._freshness.list_at_origin(key, options)
        objects, revision = present
        fetched = len(objects)
        tracing.current().step("Listed items from cache", {"count": fetched})
        page = await page_of(objects, revision, key=key, options=options, clock=self._clock)
        self._listed_from += fetched
        return self._counted(page)

    def at_hand(self, key: str) -> Sequence[StoredObject] | None:
        cache = self._cache
        if self._has_ended or not 0 < cache.mark.revision >= self._lag.seen:
            return None  # not filled yet, or behind a write of this server
        return cache.state.at_hand(key)

    async def count(self) -> int:
        if self._start() and await self._freshness.suffices(0):
            return len(self._cache.state)
        return await self._origin.count()

    # Watches

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch:
        await self.wait_until_ready()
        watcher = await self._watches.start(self._scope(key, options), key, options=options, sink=sink)
        if self._has_ended:
            watcher.stop()
        return watcher

    # Life

    async def wait_until_ready(self) -> None:
        if not self._start():
            await self._gate.wait(READY_SECONDS)

    async def catch_up(self, revision: int) -> None:
        """Return when neither reads nor watches that keep up show anything older than `revision`.

        An unused cache shows nothing, and returns at once. Raises Closed.
        """
        if not self._gate.is_open:
            return
        with self._progress.requested():
            await self._cache.mark.expect(revision)
        await self._fanout.position.expect(revision)

    def statistics(self) -> Mapping[str, Any]:
        return {
            "ready": self._gate.is_open,
            "lists": {"count": self._lists, "fetched": self._listed_from, "returned": self._listed},
            **self._cache.statistics(),
            "lag": self._lag.statistics(),
            "reflector": self._reflector.statistics(),
            "reads": self._freshness.statistics(),
            "watches": self._watches.statistics(),
        }

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._end(None)
        try:
            await self._tasks.close()
        finally:
            self._cache.window.close()
            await self._origin.close()

    def _end(self, reason: StorageError | None) -> None:
        """End the watches, and fail the requests that wait for a revision: no more events come."""
        self._has_ended = True
        self._answers_alone = False
        self._fanout.end_all(reason)
        self._cache.mark.fail(Closed("the cache is closed"))

    async def _continued(self, key: str, options: ListOptions) -> ListResult | None:
        """The page for a continue token, if the cache still knows the state at its revision. Raises InvalidContinue."""
        if not options.continue_token or not self._gate.is_open or self._is_translated:
            return None
        page = await continued(self._cache, self._origin, key, options, self._clock)
        return None if page is None else self._counted(page)

    def _counted(self, page: ListResult) -> ListResult:
        self._lists += 1
        self._listed += len(page.items)
        return page

    def _start(self) -> bool:
        """Start to fill the cache if that has not begun; returns whether it is filled. Raises Closed."""
        if self._has_ended:
            raise Closed("the cache is closed")
        if self._cache.mark.revision:  # the gate is open
            return True
        if not self._is_started:
            self._is_started = True
            self._tasks.spawn(self._reflector.run(), name=f"reflect {self._name}")
        return False

    def _may_never_fill(self, options: ListOptions) -> bool:
        """Whether the cache is not filled yet, and the origin has the error that the client needs.

        That is the error of a conversion webhook. For a list in pages of all objects, as kubectl sends it, it is the
        error about objects that cannot be read.
        """
        is_page = options.limit > 0 and options.predicate.is_everything
        return (self._is_translated or (is_page and self._gate.is_corrupt)) and not self._start()

    def _scope(self, key: str, options: ListOptions | WatchOptions) -> str:
        return scopes.narrowed(
            key, options.predicate, recursive=options.recursive, namespaced=self._resource.namespaced
        )

    def _noted(self, stored: StoredObject) -> StoredObject:
        """Note the revision of an object from the origin; no later read may be older."""
        if stored.revision > self._lag.seen:
            self._lag.see(stored.revision)
        return stored

    def _newer(self, key: str, suggestion: StoredObject | None) -> StoredObject | None:
        """The suggestion for a write: the cache's object, unless the caller has a newer one."""
        cached = self._cache.get(key)
        if cached is None or (suggestion is not None and suggestion.revision > cached.revision):
            return suggestion
        return cached


def _whole(options: ListOptions) -> ListOptions:
    """A continued list of version 0 has no limit, as its first page had none."""
    return replace(options, limit=0) if options.continue_token and options.resource_version == 0 else options


def _belongs_to_origin(options: ListOptions) -> bool:
    """Whether a list needs a past revision, which the cache does not keep."""
    if options.continue_token or options.match is ResourceVersionMatch.EXACT:
        return True
    is_cut = options.recursive and options.limit > 0
    return options.match is ResourceVersionMatch.UNSET and is_cut and bool(options.resource_version)
