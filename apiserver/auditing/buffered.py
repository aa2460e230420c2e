"""Buffered: collects audit events into batches, by number and by time.

Must hold: a request does not wait. An event that does not fit into the buffer is lost, and counted as lost. The buffer
is bounded by the number of events, and by the bytes of those that wait or are being sent. At the end all collected
events are sent, within a time limit.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import orjson
from msgspec import Struct

from aio_apiserver.apiserver.auditing.backends import Backend, FailureReports
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.generic.audit.trail import Event

MOST_BYTES = 64 * 1024 * 1024
_EVENT_BYTES = 2_000
"""The memory of an event without its texts."""
_FAREWELL_SECONDS = 10.0
"""The time limit for the last batches when the server stops."""


class Batching(Struct, frozen=True, kw_only=True):
    """How events are collected. per_second: the rate of batches, 0 is no limit; burst: the most batches at once."""

    most_waiting: int
    most: int
    most_seconds: float
    per_second: float = 0.0
    burst: int = 0
    is_parallel: bool = False


class _SizedEvent(NamedTuple):
    """An event, and the bytes that it counts for."""

    event: Event
    size: int


class Buffered:
    """Collects events for another backend."""

    def __init__(self, backend: Backend, batching: Batching, clock: Clock, troubles: FailureReports) -> None:
        self._backend = backend
        self._batching = batching
        self._clock = clock
        self._troubles = troubles
        self._waiting: deque[_SizedEvent] = deque()
        self._bytes = 0
        """Of the events that wait or are being sent."""
        self._is_time = asyncio.Event()
        self._is_stopping = False
        self._timer: asyncio.Task[None] | None = None
        self._work = Tasks()
        self._sending = Tasks()
        self._under_way: dict[asyncio.Task[None], list[_SizedEvent]] = {}
        self._left, self._left_at = float(batching.burst), clock.monotonic()
        self._worker = self._work.spawn(self._run(), name="audit batches")

    async def process(self, events: Sequence[Event]) -> bool:
        for number, event in enumerate(events):
            if self._is_stopping:
                self._troubles.tell("buffered", "audit backend shut down", events[number:])
                break
            size = len(orjson.dumps(event)) + _EVENT_BYTES
            if len(self._waiting) >= self._batching.most_waiting or self._bytes + size > MOST_BYTES:
                self._troubles.tell("buffered", "audit buffer queue blocked", events[number:])
                break
            self._waiting.append(_SizedEvent(event, size))
            self._bytes += size
        self._look()
        return True

    async def close(self) -> None:
        """Send the collected events, and wait for the batches on their way."""
        self._is_stopping = True
        self._is_time.set()
        try:
            async with asyncio.timeout(_FAREWELL_SECONDS):
                await asyncio.wait({self._worker})
                while self._under_way:
                    await asyncio.wait(self._under_way)
        except TimeoutError:
            sent = itertools.chain.from_iterable(self._under_way.values())
            lost = [one.event for one in (*sent, *self._waiting)]
            self._troubles.tell("buffered", "audit backend shut down", lost)
        await self._work.close()
        await self._sending.close()
        await self._backend.close()

    def _look(self) -> None:
        """Start a batch when it is full, else start its timer."""
        if len(self._waiting) >= self._batching.most:
            self._is_time.set()
        elif self._waiting and self._timer is None:
            self._timer = self._work.spawn(self._remind(), name="audit batch timer")

    async def _remind(self) -> None:
        await self._clock.sleep(self._batching.most_seconds)
        self._timer = None
        self._is_time.set()

    async def _run(self) -> None:
        while not self._is_stopping or self._waiting:
            await self._is_time.wait()
            self._is_time.clear()
            while self._waiting:
                most = min(self._batching.most, len(self._waiting))
                await self._send([self._waiting.popleft() for _ in range(most)])
            if self._is_stopping:
                return

    async def _send(self, batch: list["_SizedEvent"]) -> None:
        await self._throttle()
        if not self._batching.is_parallel:
            await self._process(batch)
            return
        task = self._sending.spawn(self._process(batch), name="audit batch")
        self._under_way[task] = batch
        task.add_done_callback(self._under_way.pop)

    async def _process(self, batch: list["_SizedEvent"]) -> None:
        try:
            await self._backend.process([one.event for one in batch])
        finally:
            self._bytes -= sum(one.size for one in batch)

    async def _throttle(self) -> None:
        """Wait until the rate limit allows another batch."""
        per_second = self._batching.per_second
        if not per_second:
            return
        now = self._clock.monotonic()
        self._left = min(self._batching.burst, self._left + (now - self._left_at) * per_second) - 1
        self._left_at = now
        if self._left < 0:
            await self._clock.sleep(-self._left / per_second)
