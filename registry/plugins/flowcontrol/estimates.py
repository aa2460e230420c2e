"""Estimates: how many seats a request takes, estimated before it is executed.

A list takes seats by the bytes that it may return, a write by the watches that get its event, other requests one seat.
Must hold: a request that is estimated wider than its level gets the level's maximum. Sizes are read once a minute,
because reading them is expensive. A resource that the server does not store leaves nothing in memory.
"""

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.plugins.flowcontrol.lanes import Lane
from aio_apiserver.registry.plugins.flowcontrol.open_watches import OpenWatches, WatchScope
from aio_apiserver.registry.plugins.flowcontrol.tickets import ONE_SEAT, Work, work_of

_MOST_OF_LISTS, _MOST_OF_WRITES = 100, 10
_BYTES_PER_SEAT = 100_000
_OBJECTS_PER_SEAT = 100
_MOST_BYTES_OF_CACHES = 1_000_000
"""The memory that a cached list holds at a time. It is sent in pieces."""
_LARGEST_OBJECT = 1_500_000
_WATCHES_PER_SEAT = 10
_SECONDS_PER_EVENT = 0.005
_LOOK_SECONDS = 60.0
_MOST_DIGITS = 18

Query = Mapping[str, Sequence[str]]


class Sizes(NamedTuple):
    """The number of objects of a resource, and their average size in bytes."""

    objects: int
    average: float


SizesOf = Callable[[str, str], Sizes | None]
"""Called with group and resource. None: this server does not store the resource, or does not know its size."""


class Estimator:
    """The estimates of one server. weighs_bytes: lists count by bytes, else by the number of objects."""

    def __init__(self, clock: Clock, watches: OpenWatches, sizes_of: SizesOf, *, weighs_bytes: bool = True) -> None:
        self._clock = clock
        self._watches = watches
        self._sizes_of = sizes_of
        self._seats = _by_bytes if weighs_bytes else _by_number
        self._known: dict[tuple[str, str], tuple[float, Sizes]] = {}

    def of_list(self, lane: Lane, resource: tuple[str, str], name: str, query: Query) -> Work:
        """The work of a list."""
        sizes = self._sizes(resource)
        if sizes is None or not sizes.objects:
            return ONE_SEAT
        return self._seats(sizes, lane, name, query, is_cached=_is_cached(query))

    def of_watch(self, lane: Lane, resource: tuple[str, str], name: str, query: Query) -> Work:
        """The work of a watch until it has sent its initial events."""
        begins_with_all = _of(query, "sendInitialEvents") == "true" or _of(query, "resourceVersion") in ("", "0")
        sizes = self._sizes(resource) if begins_with_all else None
        if sizes is None or not sizes.objects:
            return ONE_SEAT
        return self._seats(sizes, lane, name, query, is_cached=True)

    def of_write(self, lane: Lane, written: WatchScope, subresource: str) -> Work:
        """The work of a write."""
        if subresource == "token" and written.resource == SERVICEACCOUNTS.plural:
            return ONE_SEAT
        watches = self._watches.reached(written)
        lane.series.reaches(watches)
        if watches < _WATCHES_PER_SEAT:
            return ONE_SEAT
        wanted = ceil(watches / _WATCHES_PER_SEAT)
        given = min(wanted, _most(lane, _MOST_OF_WRITES))
        return work_of(1, given, wanted * _SECONDS_PER_EVENT / given)

    def _sizes(self, resource: tuple[str, str]) -> Sizes | None:
        now = self._clock.monotonic()
        until, known = self._known.get(resource, (now, None))
        if until > now:
            return known
        sizes = self._sizes_of(*resource)
        if sizes is not None:
            self._known[resource] = now + _LOOK_SECONDS, sizes
        return sizes


def _by_bytes(sizes: Sizes, lane: Lane, name: str, query: Query, *, is_cached: bool) -> Work:
    objects = _limited(sizes.objects, query)
    if name:
        objects = 1
    elif not is_cached and (_of(query, "fieldSelector") or _of(query, "labelSelector")):
        objects = max(objects, sizes.objects // 2)
    size = objects * (sizes.average or _LARGEST_OBJECT)
    if is_cached:
        size = min(size, _MOST_BYTES_OF_CACHES)
    return _work(size / _BYTES_PER_SEAT, _most(lane, _MOST_OF_LISTS))


def _by_number(sizes: Sizes, lane: Lane, name: str, query: Query, *, is_cached: bool) -> Work:
    """The estimate of older versions of Kubernetes: the number of objects that the list reads."""
    objects = sizes.objects
    if name:
        objects = 1
    elif not is_cached and (_of(query, "fieldSelector") or _of(query, "labelSelector")):
        objects += _limited(objects, query)
    elif not is_cached:
        objects = 2 * _limited(objects, query)
    return _work(objects / _OBJECTS_PER_SEAT, _most(lane, _MOST_OF_WRITES))


def _limited(objects: int, query: Query) -> int:
    limit = _of(query, "limit")
    is_number = len(limit) <= _MOST_DIGITS and limit.isascii() and limit.isdigit()
    wanted = int(limit) if is_number else 0
    return min(wanted, objects) if wanted else objects


def _work(seats: float, most: int) -> Work:
    given = max(1, min(ceil(seats), most))
    return ONE_SEAT if given == 1 else work_of(given)


def _is_cached(query: Query) -> bool:
    """Whether the watch cache answers a list, by the same rule as storage/cacher."""
    if _of(query, "continue") or _of(query, "resourceVersionMatch") == "Exact":
        return False
    version = _of(query, "resourceVersion")
    return not (version not in ("", "0") and _of(query, "limit") and not _of(query, "resourceVersionMatch"))


def _of(query: Query, name: str) -> str:
    values = query.get(name)
    return values[0] if values else ""


def _most(lane: Lane, most: int) -> int:
    """The most seats that one request may take at its level."""
    return min(lane.level.widest or most, most)
