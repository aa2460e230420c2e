"""A KVStore with encryption at rest: what the engine holds, and how data moves from key to key while it is in use."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.codec import MSGPACK
from aio_apiserver.storage.encryption.service import Encryption
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.interface import ListOptions
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.lease_manager import LeaseManager
from aio_apiserver.storage.store.store import KVStore
from tests.storage.encryption.encryption_files import IDENTITY, configuration, keyed, rule
from tests.storage.steps import WIDGETS, create, unchanged

PREFIX = "/registry/example.com/widgets/"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def kv(clock: ManualClock) -> AsyncIterator[KV]:
    kv = MemoryKV(clock=clock)
    yield kv
    await kv.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "encryption.yaml"


@pytest.fixture
async def encryption(path: Path, clock: ManualClock) -> AsyncIterator[Encryption]:
    put(path, IDENTITY)
    encryption = await Encryption.start(path, clock=clock, reloads=True)
    yield encryption
    await encryption.close()


@pytest.fixture
async def store(kv: KV, clock: ManualClock, encryption: Encryption) -> AsyncIterator[KVStore]:
    store = KVStore(
        kv,
        WIDGETS,
        prefix=PREFIX,
        codec=MSGPACK,
        transformer=encryption.transformer(WIDGETS.group, WIDGETS.resource),
        leases=LeaseManager(kv, clock=clock),
        clock=clock,
    )
    yield store
    await store.close()


def put(path: Path, *providers: dict[str, Any]) -> None:
    path.write_bytes(configuration(rule(["*.example.com"], *providers)))


async def stored(kv: KV, name: str) -> bytes:
    record = (await kv.get(f"{PREFIX}default/{name}".encode())).record
    assert record is not None
    return record.value


async def test_the_engine_sees_nothing_of_an_encrypted_object(
    store: KVStore, kv: KV, encryption: Encryption, path: Path
) -> None:
    put(path, keyed("aesgcm", "a"))
    await encryption.reload()

    await create(store, "one", color="crimson")

    value = await stored(kv, "one")
    assert value.startswith(b"k8s:enc:aesgcm:v1:a:")
    assert b"crimson" not in value
    assert (await store.get("default/one")).decode()["spec"] == {"color": "crimson"}


async def test_objects_of_all_keys_are_listed_together(store: KVStore, encryption: Encryption, path: Path) -> None:
    await create(store, "plain", color="crimson")
    put(path, keyed("secretbox", "a"), IDENTITY)
    await encryption.reload()
    await create(store, "boxed", color="crimson")
    put(path, keyed("aescbc", "b"), keyed("secretbox", "a"), IDENTITY)
    await encryption.reload()
    await create(store, "chained", color="crimson")

    listed = await store.get_list("", ListOptions())

    assert [(item.key, item.is_stale) for item in listed.items] == [
        ("default/boxed", True),
        ("default/chained", False),
        ("default/plain", True),
    ]
    assert all(item.decode()["spec"] == {"color": "crimson"} for item in listed.items)


async def test_an_update_that_changes_nothing_moves_an_object_to_the_new_key(
    store: KVStore, kv: KV, encryption: Encryption, path: Path
) -> None:
    created = await create(store, "one", color="crimson")
    put(path, keyed("aesgcm", "a"), IDENTITY)
    await encryption.reload()

    moved = await store.guaranteed_update("default/one", unchanged)
    again = await store.guaranteed_update("default/one", unchanged)

    assert moved.revision > created.revision
    assert again.revision == moved.revision
    assert (await stored(kv, "one")).startswith(b"k8s:enc:aesgcm:v1:a:")


@pytest.mark.parametrize("kind", ["aesgcm", "secretbox"])
async def test_a_wrong_key_is_corrupt_and_names_the_object(
    store: KVStore, encryption: Encryption, path: Path, kind: str
) -> None:
    put(path, keyed(kind, "a"))
    await encryption.reload()
    await create(store, "one", color="crimson")
    wrong = keyed(kind, "b")
    wrong[kind]["keys"][0]["name"] = "a"
    put(path, wrong)
    await encryption.reload()

    with pytest.raises(
        Corrupt, match=rf"data of {PREFIX}default/one cannot be read: k8s:enc:{kind}:v1:a: message auth"
    ):
        await store.get("default/one")


async def test_a_key_that_was_taken_away_too_early_is_named(store: KVStore, encryption: Encryption, path: Path) -> None:
    put(path, keyed("aescbc", "a"))
    await encryption.reload()
    await create(store, "one", color="crimson")
    put(path, keyed("aescbc", "b"), IDENTITY)
    await encryption.reload()

    with pytest.raises(Corrupt, match=r"no matching prefix found, it was written with k8s:enc:aescbc:v1:a: list that"):
        await store.get("default/one")


async def test_a_value_that_was_copied_to_another_name_does_not_read_back(
    store: KVStore, kv: KV, encryption: Encryption, path: Path
) -> None:
    put(path, keyed("aesgcm", "a"))
    await encryption.reload()
    await create(store, "one", color="crimson")
    await kv.put(f"{PREFIX}default/two".encode(), await stored(kv, "one"), expected_mod_revision=0)

    with pytest.raises(Corrupt, match="moved here from another key"):
        await store.get("default/two")
