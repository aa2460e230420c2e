"""Fixtures for tests on a kv engine: an engine in memory, with a clock that stands still."""

from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.kv.memory import MemoryKV


@pytest.fixture
def manual_clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def memory_kv(manual_clock: ManualClock) -> AsyncIterator[MemoryKV]:
    kv = MemoryKV(clock=manual_clock)
    yield kv
    await kv.close()
