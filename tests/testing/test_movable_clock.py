"""MovableClock, without a server."""

import asyncio

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.testing.bench import clock_steps
from aio_apiserver.testing.bench.clock import MovableClock
from aio_apiserver.testing.bench.clock_steps import ClockSteps, NotSettled

NOON = 1_900_000_800.0


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def later_timer(seconds: float) -> None:
    """Return when the loop has had the chance to call a timer that was set before, for an earlier moment."""
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, over.set)
    await over.wait()
    await turns()


async def test_sleepers_of_a_held_clock_sleep_until_it_is_moved() -> None:
    clock = MovableClock(NOON)
    sleeper = asyncio.ensure_future(clock.sleep(0.001))
    await later_timer(0.002)
    assert not sleeper.done()

    clock.move_to(clock.monotonic() + 1)

    await sleeper
    assert clock.now() == NOON + 1


async def test_who_began_to_sleep_before_the_clock_was_held_sleeps_on() -> None:
    clock = MovableClock()
    sleeper = asyncio.ensure_future(clock.sleep(0.001))
    await asyncio.sleep(0)

    clock.hold()
    await later_timer(0.002)
    assert not sleeper.done()

    clock.release()
    await sleeper


async def test_sleepers_wake_in_the_order_in_which_they_are_due() -> None:
    clock, woken = MovableClock(NOON), []

    async def sleep(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(name)

    async with asyncio.TaskGroup() as group:
        for name, seconds in (("third", 3), ("first", 1), ("fourth", 3), ("second", 2)):
            group.create_task(sleep(name, seconds))
        await turns()
        clock.move_to(clock.monotonic() + 3)

    assert woken == ["first", "second", "third", "fourth"]


async def test_a_clock_that_runs_wakes_its_sleepers_itself() -> None:
    await MovableClock().sleep(0.001)


async def test_another_time_of_day_wakes_no_sleeper() -> None:
    clock = MovableClock()
    began = clock.monotonic()
    sleeper = asyncio.ensure_future(clock.sleep(3600))
    await turns()

    clock.turn_to(NOON)
    await turns()

    assert not sleeper.done()
    assert NOON <= clock.now() < NOON + 60
    assert clock.monotonic() - began < 60
    sleeper.cancel()


async def test_a_restarted_clock_is_as_at_its_beginning() -> None:
    held, running = MovableClock(NOON), MovableClock()
    held.move_to(held.monotonic() + 3600)
    held.release()
    running.hold()

    held.restart()
    running.restart()

    assert (held.now(), held.is_held, running.is_held) == (NOON, True, False)


async def test_sleepers_that_were_cancelled_do_not_pile_up() -> None:
    clock = MovableClock(NOON)
    for _ in range(1_000):
        sleeper = asyncio.ensure_future(clock.sleep(3600))
        await asyncio.sleep(0)
        sleeper.cancel()
        await asyncio.sleep(0)

    assert len(clock._sleepers) < 200


async def test_each_step_is_over_before_the_next_begins() -> None:
    clock, done, tasks = MovableClock(NOON), [], Tasks()

    async def work(name: str, every: float) -> None:
        while True:
            await clock.sleep(every)
            begun = clock.now()
            await turns(40)  # longer than a step that does nothing
            done.append((clock.now() - NOON, name))
            assert clock.now() == begun

    async with StorageFactory(StorageConfig()) as storage:
        tasks.spawn(work("a", 20), name="a")
        tasks.spawn(work("b", 30), name="b")
        await turns()
        await ClockSteps(clock, storage).advance(60)
        await tasks.close()

    assert done == [(20, "a"), (30, "b"), (40, "a"), (60, "b"), (60, "a")]


async def test_what_never_settles_is_named() -> None:
    patience = ManualClock()
    clock = MovableClock(NOON, patience=patience)
    for_ever = asyncio.Event()

    async def hang() -> None:
        await clock.sleep(1)
        patience.advance(clock_steps.MOST_SECONDS + 1)
        await for_ever.wait()

    async with StorageFactory(StorageConfig()) as storage:
        hanging = asyncio.create_task(hang(), name="the one that hangs")
        await turns()
        with pytest.raises(NotSettled, match="the one that hangs"):
            await ClockSteps(clock, storage).advance(60)
    hanging.cancel()
