"""Lists in pages past what cannot be read: everything else comes, and the corrupt objects are named."""

from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.factory.readable_pages import place_of, readable_pages
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.store import KVStore
from tests.storage.cacher.cachers import cacher_on, some_turns
from tests.storage.kv import steps as kv_steps
from tests.storage.steps import create
from tests.storage.stores import raw_key, store_on
from tests.storage.test_corrupt_data import UNREADABLE


@pytest.fixture(params=["store", "cacher"])
async def storage(
    request: pytest.FixtureRequest, memory_kv: MemoryKV, manual_clock: ManualClock
) -> AsyncIterator[KVStore | Cacher]:
    store = store_on(memory_kv, clock=manual_clock)
    if request.param == "store":
        yield store
        await store.close()
        return
    async with cacher_on(store, manual_clock) as cacher:
        yield cacher


async def read(storage: KVStore | Cacher) -> tuple[list[str], set[str]]:
    """The names of the objects that can be decoded, and of the others."""
    unreadable: set[str] = set()
    found: list[str] = []
    async for page in readable_pages(storage, unreadable, page_size=4):
        for stored in page:
            try:
                found.append(stored.decode()["metadata"]["name"])
            except Corrupt as exc:
                unreadable.add(place_of(exc))
    return found, unreadable


@pytest.mark.parametrize("reason", ["truncated json", "encrypted"])
@pytest.mark.parametrize("broken", [(), (0,), (3, 4, 5), (9,), range(10)], ids=str)
async def test_objects_that_can_be_read_come_once_and_the_others_are_named(
    storage: KVStore | Cacher, memory_kv: MemoryKV, reason: str, broken: tuple[int, ...]
) -> None:
    for number in range(10):
        if number in broken:
            await kv_steps.create(memory_kv, raw_key(f"default/{number}"), UNREADABLE[reason][0])
        else:
            await create(storage, str(number))
    await storage.count()  # starts a cache, which is never filled when an object cannot be decrypted
    await some_turns()

    found, unreadable = await read(storage)

    assert found == [str(number) for number in range(10) if number not in broken]
    assert unreadable == {f"default/{number}" for number in broken}
