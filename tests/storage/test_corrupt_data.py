"""Corrupt data: a clear error with the name of the object, for that object alone."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgpack
import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.codec import JSON, MSGPACK
from aio_apiserver.storage.encryption.service import Encryption
from aio_apiserver.storage.errors import Corrupt, CorruptObjects, KeyNotFound
from aio_apiserver.storage.interface import ListOptions, WatchEventType
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.store import KVStore
from tests.storage.encryption import encryption_files as files
from tests.storage.kv import steps as kv_steps
from tests.storage.steps import Watcher, create, in_time, keys, labelled, set_spec, setting, shapes, unchanged
from tests.storage.stores import raw_key, store_on

TRUNCATED = MSGPACK.encode({"metadata": {"name": "a"}})[:-3]

UNREADABLE = {
    "unknown magic": (b"k8s\x00protobuf", "unknown magic"),
    "nothing": (b"", "unknown magic"),
    "truncated msgpack": (TRUNCATED, "broken application/msgpack"),
    "truncated json": (b'{"metadata":', "broken application/json"),
    "a list": (MSGPACK.magic + msgpack.packb([1]), "not an object"),
    "no metadata": (b"{}", "not an object"),
    "metadata of another kind": (b'{"metadata":[]}', "not an object"),
    "too deep to be shown": (b'{"metadata":{},"a":' + b"[" * 400 + b"]" * 400 + b"}", "Recursion limit"),
    "encrypted": (b"k8s:enc:aescbc:v1:key1:\x00", "identity transformer tried to read encrypted data"),
}


@pytest.fixture
async def store(memory_kv: MemoryKV, manual_clock: ManualClock) -> AsyncIterator[KVStore]:
    store = store_on(memory_kv, clock=manual_clock)
    yield store
    await store.close()


@pytest.mark.parametrize(("value", "reason"), UNREADABLE.values(), ids=UNREADABLE)
async def test_a_get_says_what_cannot_be_read_and_why(
    store: KVStore, memory_kv: MemoryKV, value: bytes, reason: str
) -> None:
    await kv_steps.create(memory_kv, raw_key("default/a"), value)

    with pytest.raises(Corrupt, match=reason) as failure:
        await store.get("default/a")

    assert failure.value.key.endswith("default/a")
    assert "widgets" in str(failure.value)


@pytest.mark.parametrize(("value", "reason"), UNREADABLE.values(), ids=UNREADABLE)
async def test_an_update_of_what_cannot_be_read_fails(
    store: KVStore, memory_kv: MemoryKV, value: bytes, reason: str
) -> None:
    record = await kv_steps.create(memory_kv, raw_key("default/a"), value)

    with pytest.raises(Corrupt, match=reason):
        await store.guaranteed_update("default/a", setting(color="red"))

    assert await kv_steps.read(memory_kv, record.key) == record


async def test_a_list_shows_what_can_be_read(store: KVStore, memory_kv: MemoryKV) -> None:
    good = await create(store, "b")
    await kv_steps.create(memory_kv, raw_key("default/a"), TRUNCATED)

    listed = await store.get_list("", ListOptions())

    assert [item.key for item in listed.items] == ["default/a", "default/b"]
    assert listed.items[1].json == good.json
    with pytest.raises(Corrupt):
        _ = listed.items[0].json


async def test_a_selection_cannot_skip_what_it_cannot_read(store: KVStore, memory_kv: MemoryKV) -> None:
    await create(store, "b", labels={"app": "web"})
    await kv_steps.create(memory_kv, raw_key("default/a"), TRUNCATED)

    with pytest.raises(Corrupt):
        await store.get_list("", ListOptions(predicate=labelled(app="web")))


async def test_a_selection_names_all_objects_that_it_cannot_read(store: KVStore, memory_kv: MemoryKV) -> None:
    await create(store, "b", labels={"app": "web"})
    for name, (value, _) in zip("ac", [UNREADABLE["truncated json"], UNREADABLE["encrypted"]], strict=True):
        await kv_steps.create(memory_kv, raw_key(f"default/{name}"), value)

    with pytest.raises(CorruptObjects, match="default/a") as failure:
        await store.get_list("", ListOptions(predicate=labelled(app="web")))

    assert [(one.key, one.revision) for one in failure.value.found] == [
        ("default/a", 3),
        (raw_key("default/c").decode(), 0),
    ]


async def test_a_list_names_no_more_than_a_hundred_objects(store: KVStore, memory_kv: MemoryKV) -> None:
    for number in range(102):
        await kv_steps.create(memory_kv, raw_key(f"default/{number:03}"), TRUNCATED)

    with pytest.raises(CorruptObjects) as failure:
        await store.get_list("", ListOptions(predicate=labelled(app="web")))

    assert (len(failure.value.found), failure.value.found[-1].key) == (100, "default/099")
    assert failure.value.is_cut


async def test_a_watch_with_a_selection_ends_at_what_it_cannot_read(store: KVStore, memory_kv: MemoryKV) -> None:
    created = await create(store, "b", labels={"app": "web"})
    watcher = await Watcher.on(store, resource_version=created.revision, predicate=labelled(app="web"))
    await kv_steps.create(memory_kv, raw_key("default/a"), TRUNCATED)

    assert isinstance(await watcher.ended(), Corrupt)


async def test_a_watch_of_everything_leaves_it_to_its_reader(store: KVStore, memory_kv: MemoryKV) -> None:
    created = await create(store, "b")
    watcher = await Watcher.on(store, resource_version=created.revision)
    await kv_steps.create(memory_kv, raw_key("default/a"), TRUNCATED)
    await create(store, "c")

    unreadable, readable = await watcher.take(2)

    assert unreadable.object is not None
    assert shapes([readable]) == [(WatchEventType.ADDED, "default/c")]
    with pytest.raises(Corrupt):
        _ = unreadable.object.json
    watcher.stop()


async def test_what_cannot_be_read_can_be_deleted_unseen(store: KVStore, memory_kv: MemoryKV) -> None:
    await kv_steps.create(memory_kv, raw_key("default/a"), TRUNCATED)

    await store.delete("default/a")

    with pytest.raises(KeyNotFound):
        await store.get("default/a")


def configure(path: Path, providers: Sequence[files.Provider]) -> None:
    path.write_bytes(files.configuration(files.rule(["*.*"], *providers)))


async def encrypted(kv: MemoryKV, path: Path, *providers: files.Provider) -> tuple[KVStore, Encryption]:
    configure(path, providers)
    encryption = await Encryption.start(path, clock=ManualClock())
    return store_on(kv, transformer=encryption.transformer("example.com", "widgets")), encryption


async def test_a_wrong_key_is_an_error_that_names_the_object(memory_kv: MemoryKV, tmp_path: Path) -> None:
    writer, one = await encrypted(memory_kv, tmp_path / "one", files.keyed("aesgcm", "key1"))
    reader, other = await encrypted(memory_kv, tmp_path / "other", files.keyed("aesgcm", "key2"))
    created = await create(writer, "a", color="secret")

    with pytest.raises(Corrupt) as failure:
        await reader.get("default/a")
    with pytest.raises(Corrupt):
        await reader.get_list("", ListOptions())
    watcher = await Watcher.on(reader, resource_version=created.revision - 1)

    assert failure.value.key == "/registry/example.com/widgets/default/a"
    assert isinstance(await watcher.ended(), Corrupt)
    for encryption in (one, other):
        await encryption.close()


async def test_objects_are_encrypted_on_every_road(memory_kv: MemoryKV, tmp_path: Path) -> None:
    store, encryption = await encrypted(memory_kv, tmp_path / "one", files.keyed("aescbc", "key1"))
    watcher = await Watcher.on(store, resource_version=await memory_kv.current_revision())
    created = await create(store, "a", color="plain-text")
    updated = await set_spec(store, created, color="other-text")
    stored = await memory_kv.range(b"/", b"0")
    deleted = await store.delete("default/a")

    events = await watcher.take(3)

    assert [event.object.json for event in events if event.object] == [created.json, updated.json, deleted.json]
    assert all(record.value.startswith(b"k8s:enc:aescbc:v1:key1:") for record in stored.records)
    assert not any(b"-text" in record.value for record in stored.records)
    watcher.stop()
    await encryption.close()


async def test_mixed_codecs_read_back(memory_kv: MemoryKV) -> None:
    old, new = store_on(memory_kv, codec=JSON), store_on(memory_kv, codec=MSGPACK)
    first = await create(old, "a", color="red")
    second = await create(new, "b", color="blue")

    for store in (old, new):
        listed = await store.get_list("", ListOptions())
        assert [item.json for item in listed.items] == [first.json, second.json]
        assert await keys(store, predicate=labelled()) == ["default/a", "default/b"]


async def test_an_update_that_changes_nothing_rewrites_what_has_an_old_form(memory_kv: MemoryKV) -> None:
    old, new = store_on(memory_kv, codec=JSON), store_on(memory_kv, codec=MSGPACK)
    created = await create(old, "a", color="red")

    rewritten = await new.guaranteed_update("default/a", unchanged)
    again = await new.guaranteed_update("default/a", unchanged)

    record = await kv_steps.read(memory_kv, raw_key("default/a"))
    assert record is not None
    assert record.value.startswith(MSGPACK.magic)
    assert rewritten.revision == again.revision > created.revision


async def test_a_suggestion_cannot_hide_an_old_form(memory_kv: MemoryKV) -> None:
    old, new = store_on(memory_kv, codec=JSON), store_on(memory_kv, codec=MSGPACK)
    created = await create(old, "a", color="red")

    rewritten = await new.guaranteed_update("default/a", unchanged, suggestion=created)

    assert rewritten.revision > created.revision


async def test_an_update_that_changes_nothing_rewrites_what_has_an_old_key(memory_kv: MemoryKV, tmp_path: Path) -> None:
    old, one = await encrypted(memory_kv, tmp_path / "one", files.keyed("aesgcm", "key1"))
    new, other = await encrypted(memory_kv, tmp_path / "other", files.keyed("aesgcm", "key2", "key1"))
    created = await create(old, "a", color="red")

    rewritten = await new.guaranteed_update("default/a", unchanged)

    record = await kv_steps.read(memory_kv, raw_key("default/a"))
    assert record is not None
    assert record.value.startswith(b"k8s:enc:aesgcm:v1:key2:")
    assert rewritten.revision > created.revision
    assert (await in_time(new.guaranteed_update("default/a", unchanged))).revision == rewritten.revision
    for encryption in (one, other):
        await encryption.close()
