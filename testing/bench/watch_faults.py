"""Watch faults: applies the fault rules to the events of a watch, between the cache and the stream.

It also ends a watch at its timeout by the server's clock, which a test may have moved. By the system's clock every
stream ends itself. Must hold: the order of events stays. Without a fault a batch passes unchanged. A bookmark is not
counted as an event. No task is left when the watch ends.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.watch_streams import WatchStream
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.request_steps import RequestStep
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.interface import WatchBatch, WatchEvent, WatchEventType
from aio_apiserver.testing.bench.fault_kinds import Fault
from aio_apiserver.testing.bench.faults import ActiveFault, ActiveFaults

logger = logging.getLogger(__name__)

_OF_EVENTS = frozenset({Fault.DELAY, Fault.DUPLICATE})
ANNOTATION = "testing.apiserver/"
TOO_OLD = "The resourceVersion for the provided watch is too old."


class _Due(NamedTuple):
    """An action on the stream, and its time."""

    at: float
    act: Callable[[], None]


class FaultyStream:
    """The sink of one watch, in front of its stream."""

    def __init__(self, stream: WatchStream, context: RequestContext, faults: ActiveFaults, clock: Clock) -> None:
        self._stream = stream
        self._context = context
        self._faults = faults
        self._clock = clock
        self._patience = clock.patience
        self._queue: list[_Due] = []
        self._tasks = Tasks()
        self._is_over = False
        self._forget = faults.listen(self.look)

    @property
    def backlog(self) -> int:
        return self._stream.backlog

    @property
    def backlog_limit(self) -> int:
        return self._stream.backlog_limit

    def begin(self, seconds: float) -> None:
        """Start the timeout of the watch, and check for a rule that ends it at once."""
        self._tasks.spawn(self._end_after(seconds), name="end of a watch")
        self.look()

    def look(self) -> None:
        """Called when a rule was added, which may end this watch now."""
        if self._is_over:
            return
        active = self._faults.cutting(self._context.info, self._context.user.name)
        if active is not None:
            self._end_by(active)

    def deliver(self, batch: WatchBatch) -> None:
        if self._is_over:
            return
        if not self._faults.concern(self._context.info, self._context.user.name):
            self._later(0, partial(self._stream.deliver, batch))
            return
        for event in batch.events:
            if not self._is_over:
                self._pass_on(event)

    def end(self, reason: StorageError | None) -> None:
        self._later(0, partial(self._stream.end, reason))

    async def close(self) -> None:
        """End the watch, and drop delayed events."""
        self._is_over = True
        self._forget()
        await self._tasks.close()

    def _pass_on(self, event: WatchEvent) -> None:
        """Deliver one event, with the faults of the rules."""
        seconds, times = 0.0, 1
        is_event = event.type is not WatchEventType.BOOKMARK
        for active in self._faults.of_event(self._context.info, self._context.user.name) if is_event else ():
            if active.rule.fault not in _OF_EVENTS:
                self._end_by(active)
                return
            log(active, self._context)
            seconds += active.rule.delay or 0
            times += active.rule.fault is Fault.DUPLICATE
        for _ in range(times):
            self._later(seconds, partial(self._stream.deliver, WatchBatch([event])))

    async def _end_after(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self.end(None)

    def _end_by(self, active: ActiveFault) -> None:
        self._is_over = True
        log(active, self._context)
        if active.rule.fault is Fault.GONE:
            self._stream.fail(errors.Expired(TOO_OLD))
        else:
            self._stream.cut()

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        """Act now, or after all actions that wait already."""
        if not seconds and not self._queue:
            act()
            return
        self._queue.append(_Due(self._patience.monotonic() + seconds, act))
        if len(self._queue) == 1:
            self._tasks.spawn(self._empty(), name="delayed events")

    async def _empty(self) -> None:
        while self._queue:
            await self._patience.sleep(self._queue[0].at - self._patience.monotonic())
            if not self._is_over:
                self._queue[0].act()
            del self._queue[0]


def log(active: ActiveFault, context: RequestContext) -> None:
    """Log an injected fault, add an audit annotation, and show it in the timeline."""
    info = context.info
    place = "/".join(filter(None, (info.namespace, info.resource, info.name, info.subresource)))
    logger.warning(
        "injected fault %s into %s %s by %s (audit id %s)",
        active.mark,
        info.verb,
        place,
        context.user.name,
        context.audit_id,
    )
    context.annotate(f"{ANNOTATION}{active.rule.id}", active.rule.fault.value)
    context.note_step(RequestStep("fault", active.mark, active.rule.fault.value))
