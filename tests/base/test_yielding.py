"""Work on the event loop that lets other tasks run in between."""

import asyncio
from collections.abc import Iterator

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.yielding import MAX_SECONDS, MAX_STEPS, in_slices, in_turns


async def test_other_tasks_run_when_so_many_items_have_been_dealt_with() -> None:
    seen = 0

    async def work() -> None:
        nonlocal seen
        async for _ in in_turns(range(MAX_STEPS + 1), ManualClock()):
            seen += 1

    working = asyncio.ensure_future(work())
    await asyncio.sleep(0)
    seen_so_far = seen
    await working

    assert seen_so_far == MAX_STEPS
    assert seen == MAX_STEPS + 1


async def test_other_tasks_run_when_so_much_time_has_passed() -> None:
    clock, seen = ManualClock(), 0

    def slow() -> Iterator[int]:
        for number in range(3):
            clock.advance(MAX_SECONDS)
            yield number

    async def work() -> None:
        nonlocal seen
        async for _ in in_turns(slow(), clock):
            seen += 1

    working = asyncio.ensure_future(work())
    await asyncio.sleep(0)
    seen_so_far = seen
    await working

    assert (seen_so_far, seen) == (1, 3)


async def test_slices_of_quick_items_grow() -> None:
    slices = [len(one) async for one in in_slices(range(100), ManualClock())]

    assert slices == [1, 2, 4, 8, 16, 32, 32, 5]


async def test_slow_items_are_slices_of_their_own_and_give_way() -> None:
    clock = ManualClock()
    lengths = []

    async def work() -> None:
        async for one in in_slices(range(6), clock):
            lengths.append(len(one))
            clock.advance(len(one) * MAX_SECONDS / 2)

    working = asyncio.ensure_future(work())
    await asyncio.sleep(0)
    lengths_of_a_turn = list(lengths)
    await working

    assert lengths_of_a_turn == [1, 1]
    assert lengths == [1] * 6
