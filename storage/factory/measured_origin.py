"""Measured origin: MeasuredOrigin, an Origin that records the latency of the store.

It lies below the cache, so that answers of the cache are not counted. Must hold: the results are those of the wrapped
Origin.
"""

from collections.abc import Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Unpack

from aio_apiserver.storage import measures
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.interface import (
    DeleteCall,
    ListOptions,
    ListResult,
    Origin,
    Resource,
    TryUpdate,
    UpdateCall,
    Watch,
    WatchOptions,
    WatchSink,
)
from aio_apiserver.storage.measures import AnyFamily
from aio_apiserver.storage.stored_object import Object, StoredObject

_BOUNDS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60)
_LABELS = ("group", "operation", "resource")
_RESOURCE = ("group", "resource")


class Latencies:
    """The latencies of all stores. The metrics have kube-apiserver's names for every engine."""

    def __init__(self) -> None:
        self._requests = measures.counter("etcd_requests_total", "Requests to storage.", labels=_LABELS)
        self._lists = measures.counter("apiserver_storage_list_total", "Lists of storage.", labels=_RESOURCE)
        self._returned = measures.counter(
            "apiserver_storage_list_returned_objects_total", "Objects in lists of storage.", labels=_RESOURCE
        )
        self._fetched = measures.counter(
            "apiserver_storage_list_fetched_objects_total", "Objects read from storage for lists.", labels=_RESOURCE
        )
        self._examined = measures.counter(
            "apiserver_storage_list_evaluated_objects_total",
            "Objects that were looked at for lists of storage.",
            labels=_RESOURCE,
        )
        self._undecodable = measures.counter(
            "apiserver_storage_decode_errors_total", "Stored objects that could not be read.", labels=_RESOURCE
        )
        self._durations = measures.histogram(
            "etcd_request_duration_seconds", "How long requests to storage took.", labels=_LABELS, bounds=_BOUNDS
        )

    def families(self) -> Iterable[AnyFamily]:
        """All metric families recorded here."""
        yield from (self._requests, self._durations, self._lists, self._returned, self._fetched, self._examined)
        yield self._undecodable

    def listed(self, resource: Resource, listed: ListResult) -> None:
        """Record a list."""
        labels = resource.group, resource.resource
        self._lists.of(*labels).add()
        self._returned.of(*labels).add(len(listed.items))
        self._fetched.of(*labels).add(listed.fetched)
        self._examined.of(*labels).add(listed.examined)

    def undecodable(self, resource: Resource) -> None:
        """Record a stored object that cannot be read."""
        self._undecodable.of(resource.group, resource.resource).add()

    def record(self, resource: Resource, operation: str, seconds: float) -> None:
        """Record the end of a request."""
        labels = resource.group, operation, resource.resource
        self._requests.of(*labels).add()
        self._durations.of(*labels).observe(seconds)


class MeasuredOrigin:
    """The Origin of one resource, with latencies."""

    def __init__(self, origin: Origin, resource: Resource, latencies: Latencies, clock: Clock) -> None:
        self._origin = origin
        self._resource = resource
        self._latencies = latencies
        self._clock = clock

    @property
    def has_reliable_progress(self) -> bool:
        return self._origin.has_reliable_progress

    async def create(self, key: str, obj: Object, *, ttl: int = 0) -> StoredObject:
        with self._timed("create"):
            return await self._origin.create(key, obj, ttl=ttl)

    async def get(self, key: str, *, resource_version: int | None = None) -> StoredObject:
        with self._timed("get"):
            return await self._origin.get(key, resource_version=resource_version)

    async def get_list(self, key: str, options: ListOptions) -> ListResult:
        with self._timed("list"):
            listed = await self._origin.get_list(key, options)
        self._latencies.listed(self._resource, listed)
        return listed

    async def guaranteed_update(self, key: str, try_update: TryUpdate, **call: Unpack[UpdateCall]) -> StoredObject:
        with self._timed("update"):
            return await self._origin.guaranteed_update(key, try_update, **call)

    async def delete(self, key: str, **call: Unpack[DeleteCall]) -> StoredObject:
        with self._timed("delete"):
            return await self._origin.delete(key, **call)

    async def preview(self, key: str, obj: Object) -> StoredObject:
        return await self._origin.preview(key, obj)

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch:
        return await self._origin.watch(key, options, sink)

    async def count(self) -> int:
        with self._timed("count"):
            return await self._origin.count()

    def current_revision(self) -> Coroutine[Any, Any, int]:
        return self._origin.current_revision()

    async def request_progress(self) -> None:
        await self._origin.request_progress()

    async def wait_until_ready(self) -> None:
        await self._origin.wait_until_ready()

    def statistics(self) -> Mapping[str, Any]:
        return self._origin.statistics()

    async def close(self) -> None:
        await self._origin.close()

    @contextmanager
    def _timed(self, operation: str) -> Iterator[None]:
        began = self._clock.monotonic()
        try:
            yield
        except Corrupt:
            self._latencies.undecodable(self._resource)
            raise
        finally:
            self._latencies.record(self._resource, operation, self._clock.monotonic() - began)
