"""Dry run: the checks of a write without a write."""

from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.codec import MSGPACK
from aio_apiserver.storage.errors import KeyExists, KeyNotFound, NotStorable, PreconditionFailed
from aio_apiserver.storage.factory.dry_run import DryRunnableStorage
from aio_apiserver.storage.interface import ListOptions, Preconditions, Update
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.lease_manager import LeaseManager
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.stored_object import StoredObject
from aio_apiserver.storage.transformers.transformer import IDENTITY
from tests.storage.steps import WIDGETS, Watcher, create, setting, widget


class Refused(Exception):
    pass


@pytest.fixture
async def kv() -> AsyncIterator[MemoryKV]:
    kv = MemoryKV(clock=ManualClock())
    yield kv
    await kv.close()


@pytest.fixture
async def store(kv: MemoryKV) -> AsyncIterator[KVStore]:
    clock = ManualClock()
    store = KVStore(
        kv,
        WIDGETS,
        prefix="/registry/widgets/",
        codec=MSGPACK,
        transformer=IDENTITY,
        leases=LeaseManager(kv, clock=clock),
        clock=clock,
    )
    yield store
    await store.close()


@pytest.fixture
def storage(store: KVStore) -> DryRunnableStorage:
    return DryRunnableStorage(store)


async def test_a_creation_shows_the_object_without_a_resource_version(
    storage: DryRunnableStorage, kv: MemoryKV
) -> None:
    shown = await storage.create("default/a", widget("a", color="red"), dry_run=True)

    obj = shown.decode()
    assert (shown.key, shown.revision, obj["spec"]) == ("default/a", 0, {"color": "red"})
    assert "resourceVersion" not in obj["metadata"]
    assert await kv.current_revision() == 1


async def test_a_creation_refuses_what_a_real_one_refuses(storage: DryRunnableStorage, store: KVStore) -> None:
    await create(store, "a")

    with pytest.raises(KeyExists):
        await storage.create("default/a", widget("a"), dry_run=True)
    with pytest.raises(NotStorable):
        await storage.create("default/b", widget("b", color=b"bytes"), dry_run=True)


async def test_a_creation_shows_the_resource_version_that_a_copy_has(
    storage: DryRunnableStorage, store: KVStore
) -> None:
    created = await create(store, "a")

    shown = await storage.create("default/b", created.decode(), dry_run=True)

    assert shown.decode()["metadata"]["resourceVersion"] == str(created.revision)


async def test_an_update_shows_the_result_under_the_present_revision(
    storage: DryRunnableStorage, store: KVStore, kv: MemoryKV
) -> None:
    created = await create(store, "a", color="red")

    shown = await storage.guaranteed_update("default/a", setting(color="blue"), dry_run=True)

    obj = shown.decode()
    assert obj["spec"] == {"color": "blue"}
    assert obj["metadata"]["resourceVersion"] == str(created.revision)
    assert (await store.get("default/a")).json == created.json
    assert await kv.current_revision() == created.revision


async def test_an_update_may_show_a_creation(storage: DryRunnableStorage, kv: MemoryKV) -> None:
    async def try_update(current: StoredObject | None) -> Update:
        assert current is None
        return Update(widget("a", color="red"))

    shown = await storage.guaranteed_update("default/a", try_update, ignore_not_found=True, dry_run=True)

    assert "resourceVersion" not in shown.decode()["metadata"]
    assert await kv.current_revision() == 1


async def test_an_update_refuses_what_a_real_one_refuses(storage: DryRunnableStorage, store: KVStore) -> None:
    await create(store, "a")

    async def refuse(_current: StoredObject | None) -> Update:
        raise Refused

    with pytest.raises(KeyNotFound):
        await storage.guaranteed_update("default/b", setting(color="blue"), dry_run=True)
    with pytest.raises(PreconditionFailed) as unmet:
        await storage.guaranteed_update(
            "default/a", setting(color="blue"), preconditions=Preconditions(uid="other"), dry_run=True
        )
    assert unmet.value.is_dry
    with pytest.raises(Refused):
        await storage.guaranteed_update("default/a", refuse, dry_run=True)
    with pytest.raises(NotStorable):
        await storage.guaranteed_update("default/a", setting(color=b"bytes"), dry_run=True)


async def test_a_deletion_shows_the_object_and_leaves_it(storage: DryRunnableStorage, store: KVStore) -> None:
    created = await create(store, "a")

    shown = await storage.delete("default/a", dry_run=True)

    assert shown.json == created.json
    assert (await store.get("default/a")).json == created.json


async def test_a_deletion_refuses_what_a_real_one_refuses(storage: DryRunnableStorage, store: KVStore) -> None:
    await create(store, "a")

    async def refuse(_current: StoredObject) -> None:
        raise Refused

    with pytest.raises(KeyNotFound):
        await storage.delete("default/b", dry_run=True)
    with pytest.raises(PreconditionFailed):
        await storage.delete("default/a", preconditions=Preconditions(uid="other"), dry_run=True)
    with pytest.raises(Refused):
        await storage.delete("default/a", validate=refuse, dry_run=True)


async def test_what_is_no_dry_run_is_done(storage: DryRunnableStorage) -> None:
    created = await storage.create("default/a", widget("a", color="red"))
    updated = await storage.guaranteed_update("default/a", setting(color="blue"), suggestion=created)
    listed = await storage.get_list("", ListOptions())
    count = await storage.count()
    watcher = await Watcher.on(storage, resource_version=created.revision)
    deleted = await storage.delete("default/a", suggestion=updated)

    assert [item.json for item in listed.items] == [updated.json]
    assert count == 1
    assert [event.revision for event in await watcher.take(2)] == [updated.revision, deleted.revision]
    with pytest.raises(KeyNotFound):
        await storage.get("default/a")
    watcher.stop()


async def test_an_object_can_be_shown_as_if_it_was_stored(storage: DryRunnableStorage) -> None:
    obj = widget("a")
    obj["metadata"]["resourceVersion"] = "7"

    shown = storage.stored("default/a", obj)

    assert (shown.revision, shown.decode()["metadata"]["resourceVersion"]) == (7, "7")
