import asyncio
from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import SystemClock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.generic.following import Following
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.interface import Resource, Storage
from aio_apiserver.storage.stored_object import StoredObject

WIDGETS = Resource(group="example.com", resource="widgets", namespaced=False)


def size_of(stored: StoredObject) -> int:
    size: int = stored.decode()["size"]
    return size


def widget(name: str, size: int) -> dict[str, object]:
    return {"metadata": {"name": name}, "size": size}


@pytest.fixture
async def storage() -> AsyncIterator[Storage]:
    async with StorageFactory(StorageConfig(), clock=SystemClock()) as factory:
        yield factory.storage_for(WIDGETS)


@pytest.fixture
async def tasks() -> AsyncIterator[Tasks]:
    owner = Tasks()
    yield owner
    await owner.close()


async def test_it_begins_with_the_whole_state(storage: Storage, tasks: Tasks) -> None:
    await storage.create("a", widget("a", 1))
    await storage.create("b", widget("b", 2))
    following = Following(storage, size_of)

    tasks.spawn(following.run(SystemClock()), name="follow")
    await following.wait_until_current()

    assert following.items == {"a": 1, "b": 2}


async def test_it_tells_of_changes_when_they_can_be_seen(storage: Storage, tasks: Tasks) -> None:
    seen: asyncio.Queue[dict[str, int]] = asyncio.Queue()
    following: Following[int] = Following(storage, size_of, lambda _keys: seen.put_nowait(dict(following.items)))
    tasks.spawn(following.run(SystemClock()), name="follow")
    beginning = await seen.get()

    await storage.create("a", widget("a", 1))
    after_creation = await seen.get()
    await storage.delete("a")
    after_deletion = await seen.get()

    assert (beginning, after_creation, after_deletion) == ({}, {"a": 1}, {})


async def test_what_cannot_be_read_counts_as_missing(storage: Storage, tasks: Tasks) -> None:
    await storage.create("a", {"metadata": {"name": "a"}})
    await storage.create("b", widget("b", 2))
    following = Following(storage, size_of)

    tasks.spawn(following.run(SystemClock()), name="follow")
    await following.wait_until_current()

    assert following.items == {"b": 2}


async def test_the_next_change_can_be_waited_for(storage: Storage, tasks: Tasks) -> None:
    following = Following(storage, size_of)
    tasks.spawn(following.run(SystemClock()), name="follow")
    await following.wait_until_current()
    changed = following.next_change()

    await storage.create("a", widget("a", 1))
    await changed

    assert following.items == {"a": 1}
