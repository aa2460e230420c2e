import asyncio
import sys
from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.measures import Counter, Tally
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.generic.access.users import ALL_AUTHENTICATED, UserInfo
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.groups.flowcontrol import builtin_objects
from aio_apiserver.registry.groups.flowcontrol.flowschemas import FLOWSCHEMAS
from aio_apiserver.registry.groups.flowcontrol.prioritylevelconfigurations import PRIORITYLEVELCONFIGURATIONS
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.registry.plugins.flowcontrol.flow_metrics import FlowMetrics
from aio_apiserver.registry.plugins.flowcontrol.tickets import ONE_SEAT, Ticket, Work
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from tests.registry.plugins.flowcontrol.lines import some_turns

JANE = UserInfo(name="jane", groups=(ALL_AUTHENTICATED,))
GET_PODS = "get", "", "", "default", "pods", ""


class Served:
    """Fairness with the objects of a new server. The test moves `clock`."""

    def __init__(self, fairness: Fairness, clock: ManualClock) -> None:
        self.fairness = fairness
        self.clock = clock
        self.lane = fairness.lane_of(JANE, GET_PODS)

    def ticket(self, work: Work = ONE_SEAT) -> Ticket:
        return Ticket(self.lane, work, self.clock.monotonic())

    def enter(self, work: Work = ONE_SEAT) -> Ticket:
        ticket = self.ticket(work)
        assert self.fairness.enter(ticket)
        return ticket

    def counted(self, tally: Tally[Counter]) -> dict[tuple[str, ...], float]:
        """Counters or gauges by their labels."""
        return {labels: series.value for labels, series in tally.series.items()}

    @property
    def metrics(self) -> FlowMetrics:
        return self.fairness.metrics


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    clock, tasks = ManualClock(), Tasks()
    async with StorageFactory(StorageConfig(), clock=clock) as factory:
        for kind, objects in (
            (FLOWSCHEMAS, builtin_objects.flow_schemas()),
            (PRIORITYLEVELCONFIGURATIONS, builtin_objects.priority_levels()),
        ):
            for obj in objects:
                obj["metadata"]["uid"] = f"uid of {obj['metadata']['name']}"
                await factory.storage_for(resource_of(kind)).create(obj["metadata"]["name"], obj)
        fairness = Fairness(factory.storage_for, clock, seats=70, sizes_of=lambda _group, _resource: None)
        tasks.spawn(fairness.run(clock), name="fairness")
        while fairness.lane_of(JANE, GET_PODS).flow is None:
            await fairness.changed.wait()
            fairness.changed.clear()
        yield Served(fairness, clock)
        await tasks.close()
        await fairness.close()


async def test_a_flow_is_that_of_its_schema_and_its_user(served: Served) -> None:
    assert (served.lane.schema, served.lane.distinguisher) == ("global-default", "jane")
    assert served.lane.flow == ("uid of global-default", "uid of global-default")
    assert len(served.lane.hand) == 6


@pytest.mark.parametrize(("length", "is_remembered"), [(100, True), (1100, False)])
async def test_a_long_path_is_classified_and_forgotten(served: Served, length: int, is_remembered: bool) -> None:
    path = "/" * length
    before = sys.getrefcount(path)

    lane = served.fairness.lane_of(JANE, ("get", path, "", "", "", ""))

    assert lane.schema == "global-default"
    assert sys.getrefcount(path) == before + is_remembered


async def test_who_has_waited_long_enough_is_refused(served: Served) -> None:
    running = [served.enter() for _ in range(served.lane.level.limit)]
    waiting = asyncio.create_task(served.fairness.wait(served.enter(), until=5.0))
    await some_turns()

    served.clock.advance(5)
    await some_turns()

    assert await waiting is False
    assert served.counted(served.metrics.rejected) == {("global-default", "global-default", "time-out"): 1}
    assert served.counted(served.metrics.in_queues) == {("global-default", "global-default"): 0}
    assert served.counted(served.metrics.dispatched)["global-default", "global-default"] == len(running)


async def test_who_gets_a_seat_in_time_is_served(served: Served) -> None:
    running = [served.enter() for _ in range(served.lane.level.limit)]
    ticket = served.enter()
    waiting = asyncio.create_task(served.fairness.wait(ticket, until=5.0))
    await some_turns()

    served.fairness.leave(running[0])

    assert await waiting is True
    assert ticket.is_begun
    served.clock.advance(8)
    await some_turns()
    assert not served.counted(served.metrics.rejected)


async def test_who_stops_waiting_leaves_nothing_behind(served: Served) -> None:
    running = [served.enter() for _ in range(served.lane.level.limit)]
    waiting = asyncio.create_task(served.fairness.wait(served.enter(), until=5.0))
    await some_turns()

    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    for ticket in running:
        served.fairness.leave(ticket)

    assert served.lane.level.queues.is_idle
    assert served.lane.level.queues.seats == 0


async def test_seats_are_lent_while_the_server_runs(served: Served) -> None:
    level = served.lane.level
    before = level.limit
    for _ in range(100):
        served.fairness.enter(served.ticket())

    await some_turns()
    served.clock.advance(10)
    await some_turns()

    assert level.limit > before
    assert level.queues.executing == level.limit
