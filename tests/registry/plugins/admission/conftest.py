"""Fixtures of the plugins' tests: storages for the objects that a plugin looks up."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.interface import Storage
from aio_apiserver.storage.kv.memory import MemoryKV
from tests.storage.stores import store_on


@pytest.fixture
async def kept() -> AsyncIterator[Storage]:
    async with _opened() as store:
        yield store


@pytest.fixture
async def pods() -> AsyncIterator[Storage]:
    """A second storage, for pods."""
    async with _opened() as store:
        yield store


@asynccontextmanager
async def _opened() -> AsyncIterator[Storage]:
    clock = ManualClock()
    kv = MemoryKV(clock=clock)
    store = store_on(kv, clock=clock)
    yield store
    await store.close()
    await kv.close()
