"""Pacing: waits for a future with a time limit."""

import asyncio

from aio_apiserver.base.clock import Clock


async def within(seconds: float, expected: asyncio.Future[bool], clock: Clock) -> bool:
    """The future's result, or False after `seconds`. The future must have no other waiter. Raises the future's
    exception.
    """
    timer = asyncio.get_running_loop().create_task(clock.sleep(seconds))
    timer.add_done_callback(lambda _: settle(expected, False))
    try:
        return await expected
    finally:
        timer.cancel()


def settle(expected: asyncio.Future[bool], outcome: bool) -> None:
    """Set the result of a future that is not done or cancelled yet."""
    if not expected.done():
        expected.set_result(outcome)
