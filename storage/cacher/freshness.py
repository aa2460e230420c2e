"""Freshness: decides whether the watch cache can answer a read at its resource version now, and whether to wait.

A read without a resource version gets the store's revision, and waits until the cache has reached it. Concurrent reads
share one such request. A read of version N waits for N. Every read waits for the revisions that this process has
written, or read past the cache. The cache's watch delivers those even where its progress is not reliable.

The newest state of one object needs no wait when the cache has the object at the revision that it has in the store.
Then the cache may be behind with other objects:

    store at 9, object at 4    cache at 7, object at 4: answers    cache at 7, object at 3: waits for the event of 4

Must hold: True means that the cache has everything that the read demands. The origin answers where the cache cannot
know that, or does not get there in time. The cache cannot know it without reliable progress or without its watch.
"""

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.cacher.cache_lag import Lag
from aio_apiserver.storage.cacher.pacing import within
from aio_apiserver.storage.cacher.progress import Progress
from aio_apiserver.storage.cacher.reflector import Reflector
from aio_apiserver.storage.cacher.revision_check import RevisionCheck
from aio_apiserver.storage.cacher.watch_cache import WatchCache
from aio_apiserver.storage.errors import FutureRevision
from aio_apiserver.storage.interface import ListOptions, ListResult, Origin
from aio_apiserver.storage.selection import SelectionPredicate
from aio_apiserver.storage.store.hydration import hydrate
from aio_apiserver.storage.stored_object import StoredObject

PATIENCE_SECONDS = 3.0
"""How long a read waits for the cache to reach its revision."""


class Freshness:
    """Decides between cache and origin, and waits."""

    def __init__(
        self,
        origin: Origin,
        cache: WatchCache,
        *,
        reflector: Reflector,
        check: RevisionCheck,
        progress: Progress,
        lag: Lag,
        clock: Clock,
    ) -> None:
        self._origin = origin
        self._known_revision = origin.known_revision
        self._cache = cache
        self._reflector = reflector
        self._check = check
        self._progress = progress
        self._lag = lag
        self._clock = clock
        self._consistent = 0
        self._compared = 0
        self._waited = 0
        self._fallbacks = 0

    def suffices(self, resource_version: int | None) -> Coroutine[Any, Any, bool]:
        """Whether the cache can answer a read of this version; False sends the read to the origin. Raises
        FutureRevision.
        """
        return self._is_newest() if resource_version is None else self._has_come_to(resource_version)

    def has_all(self) -> bool:
        """Whether the cache has all that the store has, as far as the engine knows its revision without asking."""
        revision, present = self._known_revision(), self._cache.mark.revision
        if revision is None or not revision <= present > 0:
            return False
        self._consistent += 1
        return True

    async def has_newest(self, key: str) -> bool:
        """Whether the cache has the newest state of an object; False sends the read to the origin."""
        self._consistent += 1
        revision, own = await self._check.newest(key)
        if revision <= self._cache.mark.revision:
            return True
        if own is None:
            return await self._is_at(revision)
        cached = self._cache.get(key)
        if own == (cached.revision if cached is not None else 0):
            self._compared += 1
            return True
        return await (self._is_delivered(own) if own else self._is_at(revision))

    def saw(self, revision: int) -> None:
        """Note a revision that a client has seen in an answer from the origin."""
        self._lag.see(revision)

    async def present(
        self, scope: str, predicate: SelectionPredicate, resource_version: int | None
    ) -> tuple[Sequence[StoredObject], int] | None:
        """The cache's objects for a list, and its revision; None sends the list to the origin. Raises FutureRevision.

        The caller reads the objects before its next await, or copies them ([:]).
        """
        if not await self.suffices(resource_version):
            return None
        await hydrate(self._cache.unread(scope, predicate), self._clock)
        await self._cache.index(scope, predicate)
        return self._cache.candidates(scope, predicate), self._cache.revision

    async def list_at_origin(self, key: str, options: ListOptions) -> ListResult:
        """The list from the origin, decoded in several turns of the event loop; no later read may be older."""
        result = await self._origin.get_list(key, options)
        await hydrate(result.items, self._clock)
        self.saw(max((item.revision for item in result.items), default=0))
        return result

    def statistics(self) -> Mapping[str, int]:
        return {
            "consistent_reads": self._consistent,
            "compared_reads": self._compared,
            "waited_reads": self._waited,
            "fallbacks": self._fallbacks,
            **self._check.statistics(),
            **self._progress.statistics(),
        }

    async def _is_newest(self) -> bool:
        self._consistent += 1
        revision, _ = await self._check.newest()
        return await self._is_at(revision)

    async def _is_at(self, revision: int) -> bool:
        if revision <= self._cache.mark.revision:
            return True
        if self._can_arrive:
            self._waited += 1
            if await self._arrives(revision):
                return True
        self._fallbacks += 1
        return False

    async def _has_come_to(self, resource_version: int) -> bool:
        if resource_version > self._cache.revision:
            return await self._has_reached(resource_version)
        return self._lag.seen <= self._cache.revision or await self._is_delivered(self._lag.seen)

    async def _is_delivered(self, revision: int) -> bool:
        """Whether the event of this revision arrives in time."""
        self._waited += 1
        expected = self._cache.mark.expect(revision)
        if self._reflector.is_following and await within(PATIENCE_SECONDS, expected, self._clock):
            return True
        expected.cancel()
        self._fallbacks += 1
        return False

    async def _has_reached(self, revision: int) -> bool:
        if not self._can_arrive:
            self._fallbacks += 1
            return False
        self._waited += 1
        if await self._arrives(revision):
            return True
        raise FutureRevision(revision, self._cache.revision)

    @property
    def _can_arrive(self) -> bool:
        """Whether the cache learns without a further event that it has reached a revision."""
        return self._reflector.is_following and self._origin.has_reliable_progress

    async def _arrives(self, revision: int) -> bool:
        with self._progress.requested():
            return await within(PATIENCE_SECONDS, self._cache.mark.expect(revision), self._clock)
