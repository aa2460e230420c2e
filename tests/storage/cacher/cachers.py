"""Cachers of WIDGETS for tests, and what tests of them share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.cacher.window_memory import WindowMemory
from aio_apiserver.storage.interface import Origin
from tests.storage.steps import WIDGETS


@asynccontextmanager
async def cacher_on(origin: Origin, clock: Clock | None = None) -> AsyncIterator[Cacher]:
    """A cacher that has not been started; the test's end closes it and its origin."""
    cacher = Cacher(origin, WIDGETS, WindowMemory(clock or SystemClock()), clock=clock)
    try:
        yield cacher
    finally:
        await cacher.close()


async def some_turns() -> None:
    """More turns of the event loop than a cache takes without waiting for time."""
    for _ in range(20):
        await asyncio.sleep(0)


def reads(cacher: Cacher) -> dict[str, int]:
    """Where the reads of a cacher went."""
    statistics: dict[str, int] = cacher.statistics()["reads"]
    return statistics
