"""Clock: ManualClock and SystemClock."""

import asyncio

from aio_apiserver.base.clock import ManualClock, SystemClock


async def turns(count: int = 3) -> None:
    """Run all tasks that are ready."""
    for _ in range(count):
        await asyncio.sleep(0)


def test_a_manual_clock_stands_still_until_it_is_advanced() -> None:
    clock = ManualClock(now=1000.0)
    before = clock.now(), clock.monotonic()

    clock.advance(2.5)

    assert before == (1000.0, 0.0)
    assert (clock.now(), clock.monotonic()) == (1002.5, 2.5)


async def test_a_sleeper_wakes_when_all_its_time_has_gone_by() -> None:
    clock = ManualClock()
    sleeper = asyncio.create_task(clock.sleep(10))
    await turns()

    clock.advance(9.5)
    await turns()
    was_done = sleeper.done()
    clock.advance(0.5)
    await turns()

    assert not was_done
    assert sleeper.done()


async def test_sleepers_wake_in_the_order_of_their_deadlines() -> None:
    clock = ManualClock()
    woken: list[str] = []

    async def sleep(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(name)

    sleepers = [
        asyncio.create_task(sleep(name, seconds))
        for name, seconds in (("late", 3), ("early", 1), ("middle", 2), ("early too", 1))
    ]
    await turns()
    clock.advance(5)
    await asyncio.gather(*sleepers)

    assert woken == ["early", "early too", "middle", "late"]


async def test_who_sleeps_again_counts_from_the_present() -> None:
    clock = ManualClock()

    async def sleep_twice() -> None:
        await clock.sleep(1)
        await clock.sleep(1)

    sleeper = asyncio.create_task(sleep_twice())
    await turns()

    clock.advance(5)
    await turns()
    was_done = sleeper.done()
    clock.advance(1)
    await turns()

    assert not was_done
    assert sleeper.done()


async def test_a_cancelled_sleeper_does_not_hold_up_the_others() -> None:
    clock = ManualClock()
    cancelled, other = [asyncio.create_task(clock.sleep(1)) for _ in range(2)]
    await turns()
    cancelled.cancel()

    clock.advance(1)
    await turns()

    assert cancelled.cancelled()
    assert other.done()


async def test_to_sleep_no_time_is_to_let_others_run() -> None:
    clock = ManualClock()
    other = asyncio.create_task(turns(1))

    for _ in range(2):
        await clock.sleep(0)
        await clock.sleep(-1)

    assert other.done()


async def test_the_system_clock_never_goes_back_while_it_sleeps() -> None:
    clock = SystemClock()
    before = clock.monotonic()

    await clock.sleep(0)

    assert clock.monotonic() >= before
    assert clock.now() > 1_700_000_000
