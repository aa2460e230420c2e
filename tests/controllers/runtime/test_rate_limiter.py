"""Client-side limits of controllers."""

import asyncio
from collections.abc import Sequence

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.controllers.runtime.rate_limiter import RateLimiter


async def _settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def _asking(limiter: RateLimiter, count: int) -> Sequence["asyncio.Task[None]"]:
    return [asyncio.ensure_future(limiter.wait()) for _ in range(count)]


async def test_a_burst_goes_at_once_and_the_rest_at_the_rate() -> None:
    clock = ManualClock()
    tasks = _asking(RateLimiter(20.0, 30, clock), 50)

    await _settled()
    at_once = sum(task.done() for task in tasks)
    clock.advance(0.51)
    await _settled()

    assert at_once == 30
    assert [task.done() for task in tasks] == [True] * 40 + [False] * 10
    clock.advance(0.5)
    await asyncio.gather(*tasks)


async def test_a_pause_saves_up_no_more_than_a_burst() -> None:
    clock = ManualClock()
    limiter = RateLimiter(1.0, 2, clock)
    clock.advance(1000.0)

    tasks = _asking(limiter, 3)
    await _settled()

    assert [task.done() for task in tasks] == [True, True, False]
    clock.advance(1.0)
    await asyncio.gather(*tasks)


async def test_a_rate_that_is_not_positive_limits_nothing() -> None:
    tasks = _asking(RateLimiter(-1.0, 1, ManualClock()), 100)

    await asyncio.gather(*tasks)
