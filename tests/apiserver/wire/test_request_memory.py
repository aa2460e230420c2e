"""Request memory: shares of users, and the order of those who wait."""

import asyncio

import pytest

from aio_apiserver.apiserver.wire.request_memory import MOST_WAITING, RequestMemory


async def test_a_user_waits_for_its_own_share_alone() -> None:
    memory = RequestMemory(total=100, per_user=30)

    assert await memory.take("eve", 20)
    waiting = asyncio.ensure_future(memory.take("eve", 20))
    assert await memory.take("jane", 30)
    assert not waiting.done()
    memory.give_back("eve", 20)

    assert await waiting


async def test_requests_of_a_user_get_memory_in_their_order() -> None:
    memory, order = RequestMemory(total=30, per_user=30), list[int]()

    async def take(size: int) -> None:
        assert await memory.take("eve", size)
        order.append(size)

    async with asyncio.TaskGroup() as tasks:
        for size in (30, 25, 5):
            tasks.create_task(take(size))
            await asyncio.sleep(0)
        memory.give_back("eve", 30)

    assert order == [30, 25, 5]


async def test_a_user_with_many_waiting_requests_is_refused_at_once_and_others_are_not() -> None:
    memory = RequestMemory(total=100, per_user=30)
    assert await memory.take("eve", 30)
    waiting = [asyncio.ensure_future(memory.take("eve", 1)) for _ in range(MOST_WAITING)]
    await asyncio.sleep(0)

    assert not await memory.take("eve", 1)
    assert await memory.take("jane", 30)
    memory.give_back("eve", 30)

    assert await waiting[0]
    for one in waiting:
        one.cancel()


async def test_all_users_together_stay_below_the_total() -> None:
    memory = RequestMemory(total=40, per_user=30, seconds=0)

    assert await memory.take("eve", 30)
    assert not await memory.take("jane", 20)
    assert await memory.take("jane", 10)


async def test_who_gave_up_waiting_holds_up_no_other_request() -> None:
    memory = RequestMemory(total=30, per_user=30)
    assert await memory.take("eve", 20)
    first = asyncio.ensure_future(memory.take("eve", 20))
    second = asyncio.ensure_future(memory.take("eve", 10))
    await asyncio.sleep(0)

    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first

    assert await second
    memory.give_back("eve", 10)
    memory.give_back("eve", 20)
    assert await memory.take("eve", 30)


async def test_memory_that_came_with_the_cancellation_is_free_again() -> None:
    memory = RequestMemory(total=30, per_user=30)
    assert await memory.take("eve", 30)
    late = asyncio.ensure_future(memory.take("eve", 30))
    await asyncio.sleep(0)

    memory.give_back("eve", 30)
    late.cancel()
    with pytest.raises(asyncio.CancelledError):
        await late

    assert await memory.take("eve", 30)


async def test_clients_that_leave_together_leave_their_memory() -> None:
    memory = RequestMemory(total=30, per_user=30)
    assert await memory.take("eve", 30)
    waiting = [asyncio.ensure_future(memory.take("eve", 30)) for _ in range(3)]
    await asyncio.sleep(0)

    for one in waiting:
        one.cancel()
    memory.give_back("eve", 30)
    ended = await asyncio.gather(*waiting, return_exceptions=True)

    assert [type(one) for one in ended] == [asyncio.CancelledError] * 3
    assert memory.statistics() == {"bytes": 0, "waiting": 0, "refused": 0}


async def test_users_who_wait_for_the_memory_of_all_get_it_in_turns() -> None:
    memory, order = RequestMemory(total=10, per_user=10), list[str]()

    async def take(user: str) -> None:
        assert await memory.take(user, 10)
        order.append(user)
        memory.give_back(user, 10)

    assert await memory.take("admin", 10)
    async with asyncio.TaskGroup() as tasks:
        for user in ("eve", "eve", "eve", "jane"):
            tasks.create_task(take(user))
            await asyncio.sleep(0)
        memory.give_back("admin", 10)

    assert order == ["eve", "jane", "eve", "eve"]


async def test_what_is_in_memory_already_does_not_wait() -> None:
    memory = RequestMemory(total=30, per_user=20)

    assert memory.take_at_once("eve", 15)
    assert not memory.take_at_once("eve", 15)
    assert memory.take_at_once("jane", 15)
    assert memory.statistics() == {"bytes": 30, "waiting": 0, "refused": 1}
