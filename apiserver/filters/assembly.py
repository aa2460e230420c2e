"""Assembly: builds the limits of requests from the flags: deadlines, max in flight, priority and fairness."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from msgspec import Struct

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.filters.deadlines import Deadlines
from aio_apiserver.apiserver.metrics.connections import of_connections, of_request_memory
from aio_apiserver.apiserver.metrics.flow_control import FlowControlMetrics
from aio_apiserver.apiserver.metrics.metric_families import Measures
from aio_apiserver.apiserver.wire import request_memory
from aio_apiserver.apiserver.wire.connection_limits import ConnectionLimits, raised_total
from aio_apiserver.apiserver.wire.head_memory import HeadMemory
from aio_apiserver.apiserver.wire.request_memory import RequestMemory
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.plugins.flowcontrol.estimates import Sizes
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.registry.plugins.flowcontrol.occupancy import InFlight
from aio_apiserver.registry.plugins.flowcontrol.watch_starts import WatchStarts
from aio_apiserver.storage.factory.factory import StorageFactory


class RequestLimits(Struct, frozen=True):
    """The limits of requests and connections. fairness: None with --enable-priority-and-fairness=false.

    heads: the memory for long heads without a user. memory: for heads and bodies. objects: for what is in bodies.
    """

    deadlines: Deadlines
    in_flight: InFlight
    fairness: Fairness | None
    connections: ConnectionLimits
    heads: HeadMemory
    memory: RequestMemory
    objects: RequestMemory
    watch_starts: WatchStarts


def open_limits(
    settings: Settings,
    storage: StorageFactory,
    clock: Clock,
    *,
    measures: Measures,
    stack: AsyncExitStack,
) -> RequestLimits:
    """The limits that the flags request."""
    deadlines = Deadlines(clock.patience, timeout=settings.request_timeout)
    stack.push_async_callback(deadlines.close)
    fairness = _fairness(settings, storage, clock)
    if fairness is not None:
        stack.push_async_callback(fairness.close)
    in_flight = InFlight(clock.patience.monotonic())
    measures.ask(FlowControlMetrics(in_flight, fairness, clock.patience).families)
    connections = ConnectionLimits(
        total=raised_total(settings.max_connections),
        per_address=settings.max_connections_per_address,
        per_user=settings.max_connections_per_user,
    )
    starts = WatchStarts(clock.patience)
    measures.ask(lambda: of_connections(connections.statistics(), starts.refused))
    heads, memory = HeadMemory(), RequestMemory()
    objects = RequestMemory(request_memory.OBJECTS_TOTAL_BYTES, request_memory.OBJECTS_USER_BYTES)
    measures.ask(lambda: of_request_memory(heads.statistics(), memory.statistics(), objects.statistics()))
    return RequestLimits(deadlines, in_flight, fairness, connections, heads, memory, objects, starts)


def _fairness(settings: Settings, storage: StorageFactory, clock: Clock) -> Fairness | None:
    if not settings.enable_priority_and_fairness:
        return None
    return Fairness(
        storage.storage_for,
        clock.patience,
        seats=settings.max_requests_inflight + settings.max_mutating_requests_inflight,
        sizes_of=lambda group, resource: _sizes(storage.statistics_of(group, resource)),
        weighs_bytes=settings.minor.is_open("SizeBasedListCostEstimate"),
    )


def _sizes(statistics: Mapping[str, Any]) -> Sizes | None:
    """The count and mean size of the objects in a watch cache; None without a cache."""
    if "bytes" not in statistics:
        return None
    objects = int(statistics["objects"])
    return Sizes(objects, statistics["bytes"] / objects if objects else 0.0)
