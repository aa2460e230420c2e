"""Records: keys, stored values and StoredObjects."""

from collections.abc import AsyncIterator, Mapping

import orjson
import pytest
from msgspec.structs import replace

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage import codec as codecs
from aio_apiserver.storage.codec import JSON, MSGPACK
from aio_apiserver.storage.errors import InvalidOptions
from aio_apiserver.storage.interface import ListOptions, Resource, WatchOptions
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.lease_manager import LeaseManager
from aio_apiserver.storage.store.records import Records
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.transformers.transformer import IDENTITY
from tests.storage.kv import steps as kv_steps
from tests.storage.steps import WIDGETS, Watcher, create, setting, unchanged, widget
from tests.storage.stores import raw_key, store_on


@pytest.fixture
async def store(memory_kv: MemoryKV) -> AsyncIterator[KVStore]:
    store = store_on(memory_kv)
    yield store
    await store.close()


async def test_objects_are_kept_below_the_prefix(store: KVStore, memory_kv: MemoryKV) -> None:
    await create(store, "a", namespace="b")

    assert await kv_steps.keys_of(memory_kv, b"/") == [b"/registry/example.com/widgets/b/a"]


async def test_stored_values_have_no_resource_version(store: KVStore, memory_kv: MemoryKV) -> None:
    await create(store, "a")
    await store.guaranteed_update("default/a", setting(color="red"))

    record = await kv_steps.read(memory_kv, raw_key("default/a"))

    assert record is not None
    assert codecs.decode(record.value)["metadata"]["resourceVersion"] == ""


async def test_what_kube_apiserver_stored_as_json_is_read(store: KVStore, memory_kv: MemoryKV) -> None:
    obj = widget("a", color="red")
    record = await kv_steps.create(memory_kv, raw_key("default/a"), orjson.dumps(obj) + b"\n")

    stored = await store.get("default/a")

    assert stored.decode()["spec"] == {"color": "red"}
    assert stored.decode()["metadata"]["resourceVersion"] == str(record.mod_revision)


async def test_neighbours_of_the_prefix_are_never_seen(store: KVStore, memory_kv: MemoryKV) -> None:
    for key in (
        b"/registry/example.com/widgets",
        b"/registry/example.com/widgets0",
        b"/registry/example.com/widgets-2/a",
    ):
        await kv_steps.create(memory_kv, key)
    await create(store, "a")

    listed = await store.get_list("", ListOptions())
    watcher = await Watcher.on(store)

    assert [item.key for item in listed.items] == ["default/a"]
    assert len(await watcher.take(1)) == 1
    assert await store.count() == 1
    watcher.stop()


@pytest.mark.parametrize("key", ["", "/", "a/", "/a", "a//b", ".", "..", "../a", "a/..", "a/./b", "\ud800"])
async def test_what_cannot_be_a_key_is_refused(store: KVStore, key: str) -> None:
    for work in (
        store.get(key),
        store.create(key, widget("a")),
        store.guaranteed_update(key, unchanged),
        store.delete(key),
        store.get_list(key, ListOptions(recursive=False)),
        store.watch(key, WatchOptions(recursive=False), Watcher()),
    ):
        with pytest.raises(InvalidOptions):
            await work


@pytest.mark.parametrize("key", ["default", "/", "../", "a//"])
async def test_a_list_is_of_everything_or_of_a_namespace(store: KVStore, key: str) -> None:
    with pytest.raises(InvalidOptions):
        await store.get_list(key, ListOptions())
    with pytest.raises(InvalidOptions):
        await store.watch(key, WatchOptions(), Watcher())


def test_a_prefix_without_a_slash_at_its_end_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="ends with a slash"):
        Records(WIDGETS, "/registry/widgets", codec=MSGPACK, transformer=IDENTITY)


async def test_an_object_without_a_namespace_has_no_such_field(memory_kv: MemoryKV) -> None:
    def fields(obj: Object) -> Mapping[str, str]:
        return {"spec.color": obj["spec"]["color"]}

    nodes = Resource(group="", resource="nodes", namespaced=False, fields=fields)
    store = store_of(memory_kv, nodes)

    stored = await store.create("n1", {"metadata": {"name": "n1"}, "spec": {"color": "red"}})

    assert stored.fields == {"metadata.name": "n1", "spec.color": "red"}
    assert [item.key for item in (await store.get_list("", ListOptions())).items] == ["n1"]


async def test_stored_values_carry_a_type_that_objects_go_without(memory_kv: MemoryKV) -> None:
    typed = replace(WIDGETS, type_meta={"apiVersion": "example.com/v1", "kind": "Widget"})
    store = store_of(memory_kv, typed)
    obj = widget("a", color="red")
    del obj["apiVersion"], obj["kind"]

    created = await store.create("default/a", obj)
    again = await store.guaranteed_update("default/a", unchanged)
    found = await store.get("default/a")

    record = await kv_steps.read(memory_kv, b"/registry/example.com/widgets/default/a")
    assert record is not None
    assert list(orjson.loads(record.value)) == ["apiVersion", "kind", "metadata", "spec"]
    assert created.json == again.json == found.json
    assert list(found.decode()) == ["metadata", "spec"]


def store_of(kv: MemoryKV, resource: Resource) -> KVStore:
    return KVStore(
        kv,
        resource,
        prefix=f"/registry/{resource.group}/{resource.resource}/",
        codec=JSON,
        transformer=IDENTITY,
        leases=LeaseManager(kv, clock=ManualClock()),
    )


async def test_an_object_that_was_written_here_is_not_decoded_when_a_watch_brings_it(store: KVStore) -> None:
    watcher = await Watcher.on(store)

    created = await create(store, "a")
    first = (await watcher.take(1))[0].object
    changed = await store.guaranteed_update("default/a", setting(color="red"))
    second = (await watcher.take(1))[0].object
    large = await create(store, "b", color="x" * 70_000)
    third = (await watcher.take(1))[0].object

    watcher.stop()
    assert first is created
    assert second is changed
    assert third is large


async def test_a_member_called_resource_version_keeps_its_value(store: KVStore) -> None:
    created = await create(store, "a", resourceVersion="")

    assert created.json == (await store.get("default/a")).json
    assert created.decode()["spec"] == {"resourceVersion": ""}
