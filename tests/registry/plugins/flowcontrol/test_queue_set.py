from collections import Counter

from aio_apiserver.registry.plugins.flowcontrol.queue_set import Queuing, Refusal
from aio_apiserver.registry.plugins.flowcontrol.tickets import work_of
from tests.registry.plugins.flowcontrol.lines import MILLISECOND, Line, some_turns


async def test_a_request_that_finds_a_free_seat_does_not_wait() -> None:
    line = Line(2)

    tickets = [line.enter(0), line.enter(0)]

    assert all(ticket.is_begun and ticket.decision is None for ticket in tickets)
    assert (line.queues.executing, line.queues.seats) == (2, 2)


async def test_a_request_without_a_free_seat_waits_until_one_is_free() -> None:
    line = Line(1)
    first, second = line.enter(0), line.enter(0)
    assert second.decision is not None
    assert not second.decision.done()

    line.leave(first)

    assert await second.decision
    assert second.is_begun
    assert (line.queues.executing, line.queues.waiting) == (1, 0)


async def test_a_full_queue_refuses() -> None:
    line = Line(1, length=1)
    line.enter(0)
    line.enter(0)

    refusal = line.refusal(line.ticket(0))

    assert refusal is Refusal.FULL
    assert line.refusal(line.ticket(1)) is None
    assert line.queues.rejected == 1


async def test_without_queues_what_is_too_much_is_refused() -> None:
    line = Line(1, queues=0)
    first = line.enter()

    refused = line.refusal(line.ticket())
    line.leave(first)

    assert refused is Refusal.NO_SEATS
    assert line.refusal(line.ticket()) is None


async def test_who_is_exempt_is_always_served() -> None:
    line = Line(0, queues=0, is_exempt=True)

    tickets = [line.enter() for _ in range(3)]

    assert all(ticket.is_begun for ticket in tickets)


async def test_two_flows_get_the_same_share_however_many_requests_one_of_them_has() -> None:
    line = Line(1)
    busy = [line.enter(0) for _ in range(20)]
    modest = [line.enter(1) for _ in range(5)]

    served = line.serve(11, seconds=MILLISECOND)

    assert sum(ticket in modest for ticket in served) == 5
    assert len(busy) == 20


async def test_a_flow_of_long_requests_gets_no_more_time_than_one_of_short_ones() -> None:
    line = Line(1)
    long = [line.enter(0) for _ in range(20)]
    short = [line.enter(1) for _ in range(40)]
    milliseconds = {True: 40, False: 10}
    spent: Counter[bool] = Counter()

    while spent.total() < 600:
        is_long = next(one for one in line.entered if one.is_begun) in long
        line.serve(1, seconds=milliseconds[is_long] * MILLISECOND)
        spent[is_long] += milliseconds[is_long]

    assert abs(spent[True] - spent[False]) <= 60
    assert len(short) == 40


async def test_a_flow_that_was_idle_is_owed_nothing_for_that_time() -> None:
    line = Line(1)
    for _ in range(20):
        line.enter(0)
    line.serve(8, seconds=MILLISECOND)
    late = [line.enter(1) for _ in range(6)]

    served = line.serve(6, seconds=MILLISECOND)

    assert 2 <= sum(ticket in late for ticket in served) <= 4


async def test_a_wide_request_waits_for_its_seats_and_is_not_overtaken() -> None:
    line = Line(3)
    narrow = [line.enter(0), line.enter(1)]
    wide = line.enter(2, work=work_of(3))
    behind = line.enter(2)

    line.leave(narrow[0])
    early = [wide.is_begun, behind.is_begun]
    line.leave(narrow[1])

    assert early == [False, False]
    assert [wide.is_begun, behind.is_begun] == [True, False]


async def test_a_request_that_is_wider_than_the_level_is_served_alone() -> None:
    line = Line(2)
    first = line.enter(0)
    wide = line.enter(1, work=work_of(5))

    line.leave(first)

    assert wide.is_begun
    assert not line.enter(0).is_begun


async def test_a_write_holds_its_seats_until_its_watchers_have_heard() -> None:
    line = Line(2)
    write = line.enter(0, work=work_of(1, 2, 0.010))
    waiting = line.enter(1)

    line.leave(write)
    await some_turns()
    states = [waiting.is_begun]
    line.clock.advance(0.010)
    await some_turns()
    states.append(waiting.is_begun)

    assert states == [False, True]
    assert (line.queues.executing, line.queues.seats) == (1, 1)
    await line.alarms.close()


async def test_who_has_waited_too_long_is_told_so() -> None:
    line = Line(1)
    line.enter(0)
    late = line.enter(0)

    line.queues.give_up(late, line.clock.monotonic())

    assert late.decision is not None
    assert not await late.decision
    assert (line.queues.waiting, line.queues.waiting_seats, line.queues.timed_out) == (0, 0, 1)


async def test_who_goes_while_waiting_takes_no_seat() -> None:
    line = Line(1)
    first, gone, last = line.enter(0), line.enter(0), line.enter(0)
    assert gone.decision is not None

    gone.decision.cancel()
    line.leave(first)
    line.leave(gone)

    assert last.is_begun
    assert not gone.is_begun
    assert (line.queues.executing, line.queues.waiting) == (1, 0)


async def test_a_flow_uses_the_queue_of_its_hand_in_which_least_waits() -> None:
    line = Line(1, hand_size=2)
    line.enter(3)
    for _ in range(4):
        line.enter(0, 1)

    assert {queue.index: len(queue.waiting) for queue in line.queues.every} == {0: 2, 1: 2, 3: 0}


async def test_queues_that_are_not_wanted_any_more_are_emptied() -> None:
    line = Line(1, queues=4)
    first, waiting = line.enter(3), line.enter(3)

    line.queues.configure(Queuing(2, 1, 50), 1, line.clock.monotonic())
    assert [queue.index for queue in line.queues.every] == [3]
    line.leave(first)
    line.leave(waiting)

    assert waiting.is_begun
    assert line.queues.every == ()


async def test_more_seats_are_given_away_at_once() -> None:
    line = Line(1)
    tickets = [line.enter(0) for _ in range(3)]

    line.queues.configure(Queuing(4, 1, 50), 3, line.clock.monotonic())

    assert all(ticket.is_begun for ticket in tickets)


async def test_the_time_in_each_state_is_kept() -> None:
    line = Line(1)
    first = line.enter(0)
    line.clock.advance(2)
    line.enter(0)
    line.clock.advance(3)
    line.leave(first)

    spent = line.queues.take_spent(line.clock.monotonic())

    assert {tuple(state): seconds for state, seconds in spent.items()} == {(1, 1, 0, 0): 2, (1, 1, 1, 1): 3}
    assert not line.queues.take_spent(line.clock.monotonic())


async def test_unused_queues_take_no_memory() -> None:
    line = Line(1, queues=10_000_000)

    line.enter(9_999_999)

    assert [queue.index for queue in line.queues.every] == [9_999_999]
    assert line.queues.count == 10_000_000
