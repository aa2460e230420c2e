"""Cachers of WIDGETS for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.interface import Origin
from tests.storage.steps import WIDGETS


@asynccontextmanager
async def cacher_on(origin: Origin, clock: Clock | None = None) -> AsyncIterator[Cacher]:
    """A cacher that has not been started; the test's end closes it and its origin."""
    cacher = Cacher(origin, WIDGETS, clock=clock)
    try:
        yield cacher
    finally:
        await cacher.close()
