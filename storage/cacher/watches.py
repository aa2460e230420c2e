"""Watches: starts a client's watch at its resource version, or with the present state.

A watch at a past revision begins in the window, which older_history.py may extend. A watch with initial events begins
at their state's revision. From then on the Feeder delivers. A watch with initial events of a future revision waits for
it without a time limit.

Must hold: a watch without a version begins with the newest state. The changes that follow are those after that state's
revision, whether the cache or the origin has read the state.
"""

from collections.abc import Mapping, Sequence

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.cacher.bookmarks import Bookmarks
from aio_apiserver.storage.cacher.cache_watcher import CacheWatcher
from aio_apiserver.storage.cacher.catching_up import Feeder
from aio_apiserver.storage.cacher.fanout import Fanout
from aio_apiserver.storage.cacher.freshness import Freshness
from aio_apiserver.storage.cacher.older_history import OlderHistory
from aio_apiserver.storage.cacher.watch_cache import WatchCache
from aio_apiserver.storage.errors import FutureRevision, StorageError
from aio_apiserver.storage.interface import ListOptions, ResourceVersionMatch, WatchOptions, WatchSink
from aio_apiserver.storage.stored_object import StoredObject

FUTURE_CHECK_SECONDS = 0.25


class Watches:
    """Starts watches on one cache."""

    def __init__(
        self,
        cache: WatchCache,
        *,
        freshness: Freshness,
        older: OlderHistory,
        fanout: Fanout,
        feeder: Feeder,
        bookmarks: Bookmarks,
        clock: Clock,
        tasks: Tasks,
    ) -> None:
        self._cache = cache
        self._freshness = freshness
        self._older = older
        self._fanout = fanout
        self._feeder = feeder
        self._bookmarks = bookmarks
        self._clock = clock
        self._tasks = tasks
        self._initial_events = 0

    async def start(self, scope: str, key: str, *, options: WatchOptions, sink: WatchSink) -> CacheWatcher:
        """Begin to deliver. Raises RevisionExpired and the other errors that are known at the start."""
        watcher = CacheWatcher(sink, self._stop, scope=scope, options=options)
        version = options.resource_version or 0
        if version > self._cache.revision and options.send_initial_events:
            self._fanout.watchers.add(watcher)
            watcher.feeding = self._tasks.spawn(self._begin_later(watcher, key, options), name="await state")
            return watcher
        if options.send_initial_events or not version:
            self._show(watcher, await self._state(watcher, key, options))
        else:
            await self._older.reach(version)
        self._begin(watcher)
        return watcher

    def statistics(self) -> Mapping[str, int]:
        return {
            "initial_events": self._initial_events,
            **self._fanout.statistics(),
            **self._feeder.statistics(),
            **self._bookmarks.statistics(),
        }

    def _show(self, watcher: CacheWatcher, state: tuple[Sequence[StoredObject], int]) -> None:
        objects, revision = state
        self._initial_events += len(objects)
        watcher.show_first(objects, revision)

    def _stop(self, watcher: CacheWatcher) -> None:
        self._fanout.end(watcher, None)

    def _begin(self, watcher: CacheWatcher) -> None:
        self._feeder.start(watcher)
        if watcher.allows_bookmarks:
            self._bookmarks.add(watcher)

    async def _begin_later(self, watcher: CacheWatcher, key: str, options: WatchOptions) -> None:
        try:
            state = None
            while state is None:
                try:
                    state = await self._state(watcher, key, options)
                except FutureRevision:
                    await self._clock.sleep(FUTURE_CHECK_SECONDS)
            self._show(watcher, state)
            self._begin(watcher)
        except StorageError as exc:
            self._fanout.end(watcher, exc)

    async def _state(
        self, watcher: CacheWatcher, key: str, options: WatchOptions
    ) -> tuple[Sequence[StoredObject], int]:
        """The state that a watch begins with; the origin's where the cache is not fresh enough."""
        version = options.resource_version
        present = await self._freshness.present(watcher.scope, options.predicate, version)
        if present is not None:
            return present[0][:], present[1]
        list_options = ListOptions(
            resource_version=version,
            match=ResourceVersionMatch.NOT_OLDER_THAN if version else ResourceVersionMatch.UNSET,
            predicate=options.predicate,
            recursive=options.recursive,
        )
        listed = await self._freshness.list_at_origin(key, list_options)
        return listed.items, listed.revision
