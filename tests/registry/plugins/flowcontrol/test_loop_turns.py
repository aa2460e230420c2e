"""Loop turns: which requests begin before which others, by priority level and flow."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from aio_apiserver.registry.plugins.flowcontrol.loop_turns import ROOM, ROOM_BESIDE_GETS, ROOM_FOR_GETS
from aio_apiserver.registry.plugins.flowcontrol.tickets import GET, ONE_SEAT, work_of
from tests.registry.plugins.flowcontrol.served import (
    ADMINISTRATOR,
    ANONYMOUS,
    BOB,
    CARL,
    CREATE_PODS,
    ELECT,
    EVE,
    GET_PODS,
    JANE,
    LIST_PODS,
    NODE,
    RENEW,
    ROBOT,
    SCHEDULER,
    Served,
    a_turn,
    serving,
    turns_until_begun,
)

WRITES = -(-ROOM // ONE_SEAT.load)
"""The writes that fill a turn."""
BESIDE_GETS = -(-ROOM_BESIDE_GETS // ONE_SEAT.load)
OF_USERS = "global-default", "global-default"


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with serving(seats=6000) as one:
        yield one


async def test_writes_beyond_the_room_of_a_turn_begin_in_later_turns_in_the_order_of_their_arrival(
    served: Served,
) -> None:
    writes = served.arrive(EVE, CREATE_PODS, 3 * WRITES)

    turns = await turns_until_begun([[one] for one in writes])

    assert [sum(turn) for turn in turns] == [WRITES, 2 * WRITES, 3 * WRITES]
    assert all(list(turn) == sorted(turn, reverse=True) for turn in turns)


async def test_elections_renewals_and_reads_do_not_wait_for_writes_that_came_before_them(served: Served) -> None:
    writes = served.arrive(EVE, CREATE_PODS, 64)
    renewals = served.arrive(NODE, RENEW, 2)
    elections = served.arrive(SCHEDULER, ELECT, 1)
    reads = served.arrive(JANE, GET_PODS, 32, GET)

    assert all(one.is_begun for one in [*renewals, *elections, *reads])
    assert sum(one.is_begun for one in writes) == WRITES


async def test_requests_of_users_wait_for_waiting_elections_and_renewals(served: Served) -> None:
    writes = served.arrive(EVE, CREATE_PODS, 100)
    renewals = served.arrive(NODE, RENEW, 100)
    elections = served.arrive(SCHEDULER, ELECT, 20)

    turns = await turns_until_begun([writes, renewals, elections])

    all_elected = next(turn for turn in turns if turn[2] == 20)
    all_renewed = next(turn for turn in turns if turn[1] == 100)
    assert all_elected[1] < 20
    assert all_renewed[0] < 45


async def test_in_each_turn_a_level_with_waiting_requests_begins_one(served: Served) -> None:
    served.arrive(NODE, RENEW, 300)
    writes = served.arrive(EVE, CREATE_PODS, 10)
    lists = served.arrive(ROBOT, LIST_PODS, 60)

    turns = await turns_until_begun([writes, lists])

    assert all(later[0] > earlier[0] or earlier[0] == 10 for earlier, later in pairwise(turns))
    assert all(later[1] > earlier[1] or earlier[1] == 60 for earlier, later in pairwise(turns))


async def test_the_flows_of_a_schema_have_equal_parts_of_a_turn(served: Served) -> None:
    served.arrive(EVE, CREATE_PODS, WRITES)
    many = served.arrive(EVE, CREATE_PODS, 200)
    few = served.arrive(JANE, CREATE_PODS, 12)

    turns = await turns_until_begun([many, few])

    assert abs(turns[1][0] - turns[1][1]) <= 1
    assert turns[2][1] == 12


async def test_flows_of_a_schema_begin_in_the_order_in_which_they_came(served: Served) -> None:
    served.arrive(NODE, RENEW, 10 * WRITES)
    served.arrive(EVE, CREATE_PODS, 2)
    flows = [served.arrive(user, CREATE_PODS, 2) for user in (JANE, BOB, CARL)]

    turns = await turns_until_begun(flows)

    assert turns == [(0, 0, 0), (1, 1, 0), (2, 1, 1), (2, 2, 2)]


async def test_a_flow_with_long_lists_begins_fewer_requests(served: Served) -> None:
    served.arrive(SCHEDULER, ELECT, WRITES)
    lists = served.arrive(EVE, LIST_PODS, 40, work_of(4))
    writes = served.arrive(JANE, CREATE_PODS, 40)

    turns = await turns_until_begun([lists, writes])

    lists_beside_writes = next(turn[0] for turn in turns if turn[1] == 40)
    assert 8 <= lists_beside_writes <= 14


async def test_a_write_does_not_overtake_a_waiting_one_of_its_flow(served: Served) -> None:
    *_, waiting = served.arrive(EVE, CREATE_PODS, 2 * WRITES + 1)

    await a_turn()
    (later,) = served.arrive(EVE, CREATE_PODS, 1)
    turns = await turns_until_begun([[waiting], [later]])

    assert (0, 1) not in turns


async def test_gets_wait_for_a_very_full_turn_and_then_share_with_others(served: Served) -> None:
    reads = served.arrive(JANE, GET_PODS, 2 * ROOM_FOR_GETS, GET)
    others = served.arrive(EVE, GET_PODS, 8, GET)

    turns = await turns_until_begun([reads, others])

    assert turns[0] == (ROOM_FOR_GETS, 0)
    assert turns[1][1] == 8


async def test_beside_gets_users_have_less_room_for_writes_and_nodes_as_much_as_before(served: Served) -> None:
    for _ in range(10):
        served.arrive(JANE, GET_PODS, 8, GET)
        await a_turn()

    writes = served.arrive(EVE, CREATE_PODS, 64)
    renewals = served.arrive(NODE, RENEW, 64)
    begun_at_once = sum(one.is_begun for one in writes)
    turns = await turns_until_begun([writes, renewals])

    assert begun_at_once == BESIDE_GETS
    assert next(turn[1] for turn in turns[1:]) >= WRITES


async def test_without_gets_users_have_all_of_the_room_again(served: Served) -> None:
    for _ in range(10):
        served.arrive(JANE, GET_PODS, 8, GET)
        await a_turn()

    for _ in range(50):
        served.arrive(JANE, CREATE_PODS, 1)
        await a_turn()

    assert sum(one.is_begun for one in served.arrive(EVE, CREATE_PODS, 64)) == WRITES


async def test_exempt_requests_do_not_wait(served: Served) -> None:
    served.arrive(EVE, CREATE_PODS, 64)

    assert all(one.is_begun for one in served.arrive(ADMINISTRATOR, CREATE_PODS, 500))


async def test_a_flow_with_too_many_waiting_requests_is_refused_and_another_one_is_not() -> None:
    async with serving(seats=600) as served:
        most = served.fairness.lane_of(EVE, CREATE_PODS).level.most_of_flow
        admitted = served.arrive(EVE, CREATE_PODS, 3 * most)
        others = served.arrive(JANE, CREATE_PODS, 10)

        refused = served.counted(served.metrics.rejected)

    assert len(admitted) == WRITES + most
    assert len(others) == 10
    assert refused == {(*OF_USERS, "queue-full"): 2 * most - WRITES}


async def test_anonymous_requests_wait_for_those_of_users(served: Served) -> None:
    anonymous = served.arrive(ANONYMOUS, CREATE_PODS, 64)
    writes = served.arrive(EVE, CREATE_PODS, 10 * WRITES)

    turns = await turns_until_begun([anonymous, writes])

    assert turns[0][0] <= 2
    assert next(turn[0] for turn in turns if turn[1] == len(writes)) <= 3


async def test_a_turn_of_anonymous_requests_is_short(served: Served) -> None:
    anonymous = served.arrive(ANONYMOUS, CREATE_PODS, 20)

    turns = await turns_until_begun([anonymous])

    assert len(turns) >= 10


async def test_metrics_show_the_requests_that_wait_for_their_turn_and_how_long(served: Served) -> None:
    *_, last = served.arrive(EVE, CREATE_PODS, WRITES + 2)
    waiting = asyncio.create_task(served.fairness.wait(last, until=15.0))
    in_queue = served.counted(served.metrics.in_queues)[OF_USERS]

    served.clock.advance(3)
    is_served = await waiting

    assert in_queue == 2
    assert is_served
    assert served.counted(served.metrics.in_queues)[OF_USERS] == 0
    assert served.metrics.waiting.of(*OF_USERS, "true").sum == 3


async def test_a_request_that_has_waited_for_its_turn_waits_for_a_seat_like_others() -> None:
    async with serving(seats=70) as served:
        running = served.arrive(JANE, GET_PODS, served.lane.level.limit, GET)
        served.arrive(SCHEDULER, ELECT, 2 * WRITES)
        late = served.arrive(JANE, CREATE_PODS, 5)[-1]
        for _ in range(5):
            await a_turn()
        assert late in late.queue.waiting if late.queue is not None else False
        assert late.decision is not None

        for one in running:
            served.fairness.leave(one)

        assert await late.decision
        assert late.is_begun


async def test_a_request_whose_time_is_over_before_its_turn_is_refused(served: Served) -> None:
    *_, last = served.arrive(EVE, CREATE_PODS, WRITES + 1)
    served.lane.level.queues.give_up(last, served.clock.monotonic())

    is_served = await served.fairness.wait(last, until=15.0)

    assert not is_served
    assert not last.is_begun
    assert served.counted(served.metrics.rejected) == {(*OF_USERS, "time-out"): 1}


async def test_a_request_whose_client_goes_leaves_nothing_behind(served: Served) -> None:
    *begun, last = served.arrive(EVE, CREATE_PODS, WRITES + 1)
    assert last.decision is not None

    last.decision.cancel()  # as the task does that waits
    served.lane.level.queues.leave(last, served.clock.monotonic())
    await a_turn()
    for one in begun:
        served.fairness.leave(one)

    assert not last.is_begun
    assert served.lane.level.queues.is_idle
    assert served.counted(served.metrics.in_queues)[OF_USERS] == 0
