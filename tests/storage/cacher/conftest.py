"""Fixtures for tests of a whole Cacher: a store in memory, a clock that stands still, and faults on demand."""

from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.store import KVStore
from tests.storage.cacher.cachers import cacher_on
from tests.storage.cacher.troubled import Troubled
from tests.storage.steps import Elapse
from tests.storage.stores import store_on


@pytest.fixture
def store(memory_kv: MemoryKV, manual_clock: ManualClock) -> KVStore:
    """The store without the cache: another server, as far as the cacher is concerned."""
    return store_on(memory_kv, clock=manual_clock)


@pytest.fixture
def origin(store: KVStore) -> Troubled:
    return Troubled(store)


@pytest.fixture
async def cacher(origin: Troubled, manual_clock: ManualClock) -> AsyncIterator[Cacher]:
    """Not started yet."""
    async with cacher_on(origin, manual_clock) as cacher:
        yield cacher


@pytest.fixture
def elapse(manual_clock: ManualClock) -> Elapse:
    async def elapse(seconds: float) -> None:
        manual_clock.advance(seconds)

    return elapse
