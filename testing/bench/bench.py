"""Bench: the test tools of a server with --testing: faults, a record of requests, snapshots and a clock.

It runs on the server's event loop. Must hold: resource versions do not decrease in a restore. After a restore all
caches show the restored state.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aio_apiserver.apiserver.wire.context import Filter, Handler
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.storage.factory.factory import StorageFactory
from aio_apiserver.storage.snapshot import Snapshot
from aio_apiserver.testing.bench import garbage_collection
from aio_apiserver.testing.bench.clock import MovableClock
from aio_apiserver.testing.bench.clock_steps import ClockSteps, IsIdle, NotSettled
from aio_apiserver.testing.bench.fault_filter import FaultFilter
from aio_apiserver.testing.bench.fault_kinds import Fault
from aio_apiserver.testing.bench.faults import ActiveFault, ActiveFaults
from aio_apiserver.testing.bench.object_states import ObjectStates
from aio_apiserver.testing.bench.request_record import RequestRecord
from aio_apiserver.testing.bench.request_selectors import ResourceNames
from aio_apiserver.testing.bench.testing_endpoints import BenchEndpoints

if TYPE_CHECKING:
    from aio_apiserver.testing.bench import fault_rules
    from aio_apiserver.testing.bench.fault_rules import FaultRule
else:
    fault_rules = Deferred("aio_apiserver.testing.bench.fault_rules")

PREFIX = "/testing/"


class Bench:
    """The test tools of one server."""

    def __init__(
        self, storage: StorageFactory, served: ServedPaths, clock: MovableClock, *, rules: "Sequence[FaultRule]"
    ) -> None:
        self.faults = ActiveFaults()
        self.resources = ResourceNames(served)
        self.requests = RequestRecord(clock, self.resources)
        self.clock = clock
        self.moving = ClockSteps(clock, storage)
        self.states = ObjectStates(served, clock.patience)
        self.snapshots: dict[str, Snapshot] = {}
        self._clean: Snapshot | None = None
        self._has_controllers = False
        self._storage = storage
        self.with_recording: Filter = self.requests.with_recording
        """The filter behind impersonation."""
        self.with_faults: Filter = FaultFilter(self.faults, served, clock).with_faults
        """The filter before the handlers."""
        self._rules = rules

    async def begin(self) -> None:
        """Called when the server has created its own objects: this is the state that `reset` returns to."""
        if self._storage.is_in_memory:
            self._clean = self._storage.snapshot()
        for rule in self._rules:
            await self._activate(rule)

    async def begin_with_controllers(self, is_idle: IsIdle) -> None:
        """Called when the controllers have started. Their first objects belong to the state of a new server, too."""
        self._has_controllers = True
        self.moving.is_idle = is_idle
        if self._clean is not None:
            await self.set_baseline()

    @property
    def can_restore(self) -> bool:
        """Whether the store can be reset. The one in memory can."""
        return self._storage.is_in_memory

    def prefixes(self) -> Mapping[str, Handler]:
        """The handlers of the bench by path prefix."""
        return {PREFIX: BenchEndpoints(self).handle}

    async def inject(self, rule: "FaultRule") -> ActiveFault:
        """Activate a rule. Raises ValueError, also for a resource that the server does not serve."""
        self.resources.check(rule.resource)
        return await self._activate(rule)

    async def _activate(self, rule: "FaultRule") -> ActiveFault:
        """Activate a rule. A stale read without a version gets the present one.

        The resources of a rule from a file may come later, with their definitions.
        """
        if rule.fault is Fault.STALE and rule.version is None:
            rule = rule.model_copy(update={"version": await self._storage.current_revision()})
        return self.faults.add(rule)

    async def withdraw(self, active: ActiveFault) -> None:
        """Deactivate a rule, if it is still active."""
        if active in self.faults.active:
            self.faults.remove(active.rule.id)

    async def snapshot(self) -> Snapshot:
        """A snapshot of the present state. Raises InvalidOptions when the store is not in memory."""
        return self._storage.snapshot()

    async def restore(self, snapshot: Snapshot, *, expires: bool = False) -> int:
        """Return to the state of a snapshot. Returns its new revision. Raises InvalidOptions.

        Watches get the difference as events. With `expires` they end with 410, so that clients list again.
        """
        revision = await self._put_back(snapshot)
        if expires:
            too_old = fault_rules.FaultRule(fault=Fault.GONE, verb=("watch",))
            self.faults.remove(self.faults.add(too_old).rule.id)
        return revision

    async def reset(self) -> int:
        """Reset state, faults, record and time to those of a new server."""
        self.faults.clear()
        self.requests.clear()
        self.clock.restart()
        clean = self._clean if self._clean is not None else self._storage.snapshot()
        revision = await self._put_back(clean)
        if self._has_controllers:  # they may have been at something that they did not see go
            await self._let_controllers_settle()
            revision = await self._put_back(clean)
        return revision

    async def set_baseline(self) -> None:
        """Make the present state the one of a new server, once the controllers have settled."""
        await self._let_controllers_settle()
        self._clean = self._storage.snapshot()

    async def catch_up(self) -> None:
        """Return when all caches have seen all writes until now."""
        await self._storage.catch_up(await self._storage.current_revision())

    async def _let_controllers_settle(self) -> None:
        if self._has_controllers:
            with suppress(NotSettled):  # a client goes on writing
                await self.moving.advance(0)

    async def _put_back(self, snapshot: Snapshot) -> int:
        with garbage_collection.held_off():
            return await self._storage.restore(snapshot)

    def statistics(self) -> Mapping[str, Any]:
        """Active rules, snapshots and the number of requests, for people."""
        return {
            "faults": [{**one.rule.model_dump(mode="json"), "injected": one.injected} for one in self.faults.active],
            "snapshots": {
                name: {"objects": len(one), "revision": one.revision} for name, one in self.snapshots.items()
            },
            "requests": self.requests.count,
        }
