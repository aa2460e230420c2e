import asyncio
import sys
from collections.abc import AsyncIterator

import pytest

from tests.registry.plugins.flowcontrol.lines import some_turns
from tests.registry.plugins.flowcontrol.served import JANE, Served, serving


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with serving(seats=70) as one:
        yield one


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
