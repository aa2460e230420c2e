"""Fairness: decides which requests run, wait or are rejected, by FlowSchemas and PriorityLevelConfigurations.

It watches both kinds. Until both are listed, the mandatory objects count. Must hold: a request that has entered leaves
once. No request waits past its time limit. A request that need not wait is not suspended.
"""

import asyncio
from asyncio import CancelledError
from collections.abc import Collection

from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.generic.following import Following
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.registry.groups.flowcontrol.classification import FlowSchema, flow_schema
from aio_apiserver.registry.groups.flowcontrol.flowschemas import FLOWSCHEMAS
from aio_apiserver.registry.groups.flowcontrol.prioritylevelconfigurations import PRIORITYLEVELCONFIGURATIONS
from aio_apiserver.registry.plugins.flowcontrol import priority_level
from aio_apiserver.registry.plugins.flowcontrol.alarms import Alarms
from aio_apiserver.registry.plugins.flowcontrol.estimates import Estimator, SizesOf
from aio_apiserver.registry.plugins.flowcontrol.flow_metrics import FlowMetrics
from aio_apiserver.registry.plugins.flowcontrol.lanes import Lane, Lanes
from aio_apiserver.registry.plugins.flowcontrol.loop_turns import LoopTurns
from aio_apiserver.registry.plugins.flowcontrol.open_watches import OpenWatches
from aio_apiserver.registry.plugins.flowcontrol.priority_level import LevelConfig
from aio_apiserver.registry.plugins.flowcontrol.priority_levels import PERIOD_SECONDS, PriorityLevels
from aio_apiserver.registry.plugins.flowcontrol.queue_set import Refusal
from aio_apiserver.registry.plugins.flowcontrol.retry_after import RetryAfter
from aio_apiserver.registry.plugins.flowcontrol.tickets import Ticket
from aio_apiserver.storage.stored_object import StoredObject


class Fairness:
    """Flow control of one server. `changed` is set when an object of either kind changes."""

    def __init__(
        self, storage_for: ReaderFor, clock: Clock, *, seats: int, sizes_of: SizesOf, weighs_bytes: bool = True
    ) -> None:
        self.changed = asyncio.Event()
        self.metrics = FlowMetrics()
        self.watches = OpenWatches()
        self.estimator = Estimator(clock, self.watches, sizes_of, weighs_bytes=weighs_bytes)
        self._clock = clock
        self._alarms = Alarms(clock)
        self.levels = PriorityLevels(clock, self._alarms, seats)
        self._turns = LoopTurns(self._enter_later)
        self.lane_of = Lanes((), self.levels.by_name, self.metrics).of
        """The lane of a request."""
        self._retries: dict[str, RetryAfter] = {}
        self._schemas = Following(storage_for(resource_of(FLOWSCHEMAS)), _read_schema, self._note_change)
        self._configs = Following(storage_for(resource_of(PRIORITYLEVELCONFIGURATIONS)), _read_level, self._note_change)

    async def run(self, clock: Clock) -> None:
        """Watch both kinds, and adjust the limits of the levels, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._schemas.run(clock))
            group.create_task(self._configs.run(clock))
            group.create_task(self._adjust(clock))

    async def close(self) -> None:
        """Cancel the pending alarms of finished requests."""
        await self._alarms.close()

    def enter(self, ticket: Ticket) -> bool:
        """Whether a request may run or wait. It runs when the ticket has no `decision` to wait for."""
        lane = ticket.lane
        series, queues = lane.series, lane.level.queues
        series.seats.observe(ticket.work.seats)
        if queues.is_exempt or self._turns.begin(ticket):
            is_refused = queues.enter(ticket, ticket.arrived) is not None
        elif is_refused := not self._turns.wait(ticket):
            queues.refuse(ticket, Refusal.FULL)
        if is_refused:
            series.waited_in_vain(0.0)
            return False
        if ticket.decision is None:
            if not queues.is_exempt:
                series.waited.observe(0.0)
            series.dispatched.value += 1
            queues.dispatched += 1
        return True

    async def wait(self, ticket: Ticket, until: float) -> bool:
        """Wait for a seat until a time. Returns whether the request may run."""
        decision, queues, clock = ticket.decision, ticket.lane.level.queues, self._clock
        assert decision is not None
        alarm = self._alarms.at(until, lambda: queues.give_up(ticket, clock.monotonic()))
        is_served = False
        try:
            is_served = await decision
        except CancelledError:
            queues.leave(ticket, clock.monotonic())
            raise
        finally:
            self._alarms.take_back(alarm)
            waited = clock.monotonic() - ticket.arrived
            if is_served:
                ticket.lane.series.waited.observe(waited)
                self._dispatched(ticket)
            else:
                ticket.lane.series.waited_in_vain(waited)
        return is_served

    def leave(self, ticket: Ticket, *, is_watch: bool = False) -> float:
        """End a request, or the start of a watch. Returns the present time."""
        now = self._clock.monotonic()
        lane = ticket.lane
        if is_watch:
            lane.series.watch_began(now - ticket.started)
        else:
            lane.series.execution.observe(now - ticket.started)
        lane.level.queues.leave(ticket, now)
        return now

    def retry_after(self, lane: Lane) -> int:
        """Count a rejected request. Returns the seconds for its Retry-After header."""
        retries = self._retries.setdefault(lane.level.config.name, RetryAfter())
        return retries.refused(int(self._clock.now()))

    def _enter_later(self, ticket: Ticket) -> None:
        """Give a seat to a request that has waited for its turn, or let it wait for one."""
        is_refused = ticket.lane.level.queues.enter(ticket, self._clock.monotonic()) is not None
        decision = ticket.decision
        assert decision is not None
        if (is_refused or ticket.is_begun) and not decision.done():
            decision.set_result(not is_refused)

    def _dispatched(self, ticket: Ticket) -> None:
        ticket.lane.series.dispatched.value += 1
        ticket.lane.level.queues.dispatched += 1

    async def _adjust(self, clock: Clock) -> None:
        while True:
            await clock.sleep(PERIOD_SECONDS)
            self.levels.adjust()

    def _note_change(self, _keys: Collection[str]) -> None:
        schemas, configs = self._schemas.items, self._configs.items
        if schemas and configs:
            self.levels.configure(config for config in configs.values() if config is not None)
            present = {name: one for name, one in self.levels.by_name.items() if not one.is_leaving}
            self.lane_of = Lanes(schemas.values(), present, self.metrics).of
        self.changed.set()


def _read_schema(stored: StoredObject) -> FlowSchema:
    return flow_schema(stored.decode())


def _read_level(stored: StoredObject) -> LevelConfig | None:
    return priority_level.read(stored.decode())
