"""A KVStore whose etcd fails and returns: errors in time, no acknowledged write lost, watches that continue."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from aio_apiserver.base.clock import SystemClock
from aio_apiserver.storage.errors import Unavailable
from aio_apiserver.storage.interface import ListOptions
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.kv.etcd_server import Member
from tests.storage.steps import Watcher, create, in_time, set_spec, setting
from tests.storage.stores import store_on


@pytest.fixture
def member(etcd_binary: Path) -> Iterator[Member]:
    with Member(binary=etcd_binary) as member:
        yield member


@pytest.fixture
async def store(member: Member) -> AsyncIterator[KVStore]:
    kv = EtcdKV(EtcdConfig(endpoints=[member.endpoint], deadline=1.0))
    store = store_on(kv, clock=SystemClock())
    yield store
    await store.close()
    await kv.close()


async def test_requests_fail_while_etcd_is_gone_and_work_when_it_is_back(store: KVStore, member: Member) -> None:
    created = await create(store, "a", color="red")
    member.kill()

    failures = await in_time(
        asyncio.gather(
            store.get("default/a"),
            store.get_list("", ListOptions()),
            create(store, "b"),
            store.guaranteed_update("default/a", setting(color="blue"), suggestion=created),
            store.delete("default/a", suggestion=created),
            Watcher.on(store),
            store.count(),
            return_exceptions=True,
        )
    )
    await asyncio.to_thread(member.start)

    assert all(isinstance(failure, Unavailable) for failure in failures)
    assert (await in_time(until_served(store, "default/a"))).json == created.json
    assert (await set_spec(store, created, color="blue")).revision > created.revision


async def until_served(store: KVStore, key: str) -> StoredObject:
    """The object, when etcd answers again. Each request waits as long as its deadline allows."""
    while True:
        try:
            return await store.get(key)
        except Unavailable:
            continue


async def test_a_watch_goes_on_after_an_outage(store: KVStore, member: Member) -> None:
    created = await create(store, "a", color="red")
    watcher = await Watcher.on(store, resource_version=created.revision)
    written = [(await set_spec(store, created, step=step)).revision for step in range(5)]
    await watcher.take(3)

    member.kill()
    await asyncio.to_thread(member.start)
    written += [(await set_spec(store, created, step=step)).revision for step in range(5, 10)]

    await watcher.take(7)
    assert [event.revision for event in watcher.events] == written
    assert not watcher.ends
    watcher.stop()


async def test_no_acknowledged_write_is_lost_when_etcd_is_killed_under_load(store: KVStore, member: Member) -> None:
    acknowledged: set[str] = set()
    is_back = asyncio.Event()

    async def write(number: int) -> None:
        for step in range(1000):
            name = f"{number}-{step}"
            try:
                await create(store, name)
            except Unavailable:
                await is_back.wait()
                return
            acknowledged.add(f"default/{name}")

    async with asyncio.TaskGroup() as group:
        writers = [group.create_task(write(number)) for number in range(8)]
        while len(acknowledged) < 200:  # noqa: ASYNC110 - whatever the writers have done by then
            await asyncio.sleep(0.001)
        member.crash()
        await asyncio.to_thread(member.start)
        is_back.set()
        for writer in writers:
            writer.cancel()

    found = {item.key for item in (await store.get_list("", ListOptions())).items}
    assert acknowledged <= found
