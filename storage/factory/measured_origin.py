"""Measured origin: MeasuredOrigin, an Origin that records the latency of the store.

It lies below the cache, so that answers of the cache are not counted. Must hold: the results are those of the wrapped
Origin.
"""

from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeVar, Unpack

from aio_apiserver.base import measures
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.measures import Counter, Histogram
from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.interface import (
    DeleteCall,
    ListOptions,
    ListResult,
    Origin,
    PastChange,
    Resource,
    TryUpdate,
    UpdateCall,
    Watch,
    WatchOptions,
    WatchSink,
)
from aio_apiserver.storage.stored_object import StoredObject

_BOUNDS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60)
_LABELS = ("group", "operation", "resource")
_RESOURCE = ("group", "resource")

T = TypeVar("T")


class Latencies:
    """The latencies of all stores, and how much they read."""

    def __init__(self) -> None:
        self.requests = measures.counters(*_LABELS)
        self.durations = measures.histograms(*_LABELS, bounds=_BOUNDS)
        self.lists = measures.counters(*_RESOURCE)
        self.returned = measures.counters(*_RESOURCE)
        """Objects in lists."""
        self.fetched = measures.counters(*_RESOURCE)
        """Objects read for lists."""
        self.examined = measures.counters(*_RESOURCE)
        """Objects compared with the selectors of lists."""
        self.decode_errors = measures.counters(*_RESOURCE)

    def listed(self, resource: Resource, listed: ListResult) -> None:
        """Record a list."""
        labels = resource.group, resource.resource
        self.lists.of(*labels).add()
        self.returned.of(*labels).add(len(listed.items))
        self.fetched.of(*labels).add(listed.fetched)
        self.examined.of(*labels).add(listed.examined)

    def undecodable(self, resource: Resource) -> None:
        """Record a stored object that cannot be read."""
        self.decode_errors.of(resource.group, resource.resource).add()

    def of(self, resource: Resource, operation: str) -> tuple[Counter, Histogram]:
        """The number of requests and their durations."""
        labels = resource.group, operation, resource.resource
        return self.requests.of(*labels), self.durations.of(*labels)


class MeasuredOrigin:
    """The Origin of one resource, with latencies."""

    def __init__(self, origin: Origin, resource: Resource, latencies: Latencies, clock: Clock) -> None:
        self._origin = origin
        self.newest = origin.newest
        self.known_revision = origin.known_revision
        self._resource = resource
        self._latencies = latencies
        self._clock = clock
        self._series: dict[str, tuple[Counter, Histogram]] = {}

    has_reliable_progress = property(attrgetter("_origin.has_reliable_progress"))

    def create(self, key: str, obj: Object, *, ttl: int = 0) -> Coroutine[Any, Any, StoredObject]:
        return self._timed("create", self._origin.create(key, obj, ttl=ttl))

    def get(self, key: str, *, resource_version: int | None = None) -> Coroutine[Any, Any, StoredObject]:
        return self._timed("get", self._origin.get(key, resource_version=resource_version))

    async def get_list(self, key: str, options: ListOptions) -> ListResult:
        listed = await self._timed("list", self._origin.get_list(key, options))
        self._latencies.listed(self._resource, listed)
        return listed

    def at_hand(self, key: str) -> Sequence[StoredObject] | None:
        return self._origin.at_hand(key)

    def guaranteed_update(
        self, key: str, try_update: TryUpdate, **call: Unpack[UpdateCall]
    ) -> Coroutine[Any, Any, StoredObject]:
        return self._timed("update", self._origin.guaranteed_update(key, try_update, **call))

    def delete(self, key: str, **call: Unpack[DeleteCall]) -> Coroutine[Any, Any, StoredObject]:
        return self._timed("delete", self._origin.delete(key, **call))

    async def preview(self, key: str, obj: Object) -> StoredObject:
        return await self._origin.preview(key, obj)

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch:
        return await self._origin.watch(key, options, sink)

    async def count(self) -> int:
        return await self._timed("count", self._origin.count())

    async def request_progress(self) -> None:
        await self._origin.request_progress()

    def past_changes(self, after: int, until: int) -> Coroutine[Any, Any, Sequence[PastChange]]:
        return self._timed("past_changes", self._origin.past_changes(after, until))

    async def wait_until_ready(self) -> None:
        await self._origin.wait_until_ready()

    def statistics(self) -> Mapping[str, Any]:
        return self._origin.statistics()

    async def close(self) -> None:
        await self._origin.close()

    async def _timed(self, operation: str, work: Awaitable[T]) -> T:
        began = self._clock.monotonic()
        try:
            return await work
        except Corrupt:
            self._latencies.undecodable(self._resource)
            raise
        finally:
            series = self._series.get(operation)
            if series is None:
                series = self._series[operation] = self._latencies.of(self._resource, operation)
            requests, durations = series
            requests.value += 1
            durations.observe(self._clock.monotonic() - began)
