"""Translated writes: the calls of the webhook, and what counts as a change."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.structs import replace

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.codec import MSGPACK
from aio_apiserver.storage.errors import KeyExists, PreconditionFailed
from aio_apiserver.storage.factory.dry_run import DryRunnableStorage
from aio_apiserver.storage.interface import Preconditions
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.lease_manager import LeaseManager
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.transformers.transformer import IDENTITY
from tests.storage.steps import WIDGETS, setting, widget


class Shouting:
    """Stores colors in capitals and records its calls; `lost` is not stored."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def from_stored(self, value: Object) -> Object:
        self.asked.append(f"read {value['spec']['color']}")
        spec = {"color": value["spec"]["color"].lower()}
        return {"metadata": value["metadata"], "spec": spec}

    async def to_stored(self, obj: Object) -> Object:
        self.asked.append(f"write {obj['spec']['color']}")
        return {"metadata": obj["metadata"], "spec": {"color": obj["spec"]["color"].upper()}}

    def taken(self) -> list[str]:
        taken, self.asked = self.asked, []
        return taken


@pytest.fixture
def asked() -> Shouting:
    return Shouting()


@pytest.fixture
async def store(asked: Shouting) -> AsyncIterator[KVStore]:
    clock = ManualClock()
    kv = MemoryKV(clock=clock)
    store = KVStore(
        kv,
        replace(WIDGETS, translation=asked),
        prefix="/registry/widgets/",
        codec=MSGPACK,
        transformer=IDENTITY,
        leases=LeaseManager(kv, clock=clock),
        clock=clock,
    )
    yield store
    await store.close()
    await kv.close()


async def created(store: KVStore, asked: Shouting, color: str = "red") -> Any:
    stored = await store.create("default/a", widget("a", color=color))
    asked.asked.clear()
    return stored


async def test_a_creation_reads_back_what_it_has_written(store: KVStore, asked: Shouting) -> None:
    stored = await store.create("default/a", widget("a", color="red"))

    assert asked.taken() == ["write red", "read RED"]
    assert stored.decode()["spec"] == {"color": "red"}


async def test_a_creation_over_what_exists_has_written_before_it_hears_of_it(store: KVStore, asked: Shouting) -> None:
    await created(store, asked)

    with pytest.raises(KeyExists):
        await store.create("default/a", widget("a", color="blue"))

    assert asked.taken() == ["write blue"]


async def test_an_update_reads_writes_and_reads_back(store: KVStore, asked: Shouting) -> None:
    await created(store, asked)

    stored = await store.guaranteed_update("default/a", setting(color="blue"))

    assert asked.taken() == ["read RED", "write blue", "read BLUE"]
    assert stored.decode()["spec"] == {"color": "blue"}


async def test_an_update_from_a_suggestion_has_it_translated_before_anything_else(
    store: KVStore, asked: Shouting
) -> None:
    present = await created(store, asked)

    await store.guaranteed_update("default/a", setting(color="blue"), suggestion=present)

    assert asked.taken() == ["write red", "write blue", "read BLUE"]


async def test_a_failure_on_a_suggestion_is_checked_by_reading(store: KVStore, asked: Shouting) -> None:
    present = await created(store, asked)

    with pytest.raises(PreconditionFailed):
        await store.guaranteed_update(
            "default/a", setting(color="blue"), suggestion=present, preconditions=Preconditions(uid="other")
        )

    assert asked.taken() == ["write red", "read RED"]


async def test_what_comes_to_the_same_value_is_not_written(store: KVStore, asked: Shouting) -> None:
    present = await created(store, asked)

    stored = await store.guaranteed_update("default/a", setting(color="Red"), suggestion=present)

    assert asked.taken() == ["write red", "write Red", "read RED", "read RED"]
    assert (stored.revision, stored.decode()["spec"]) == (present.revision, {"color": "red"})


async def test_a_suggestion_that_is_not_what_is_kept_does_not_keep_an_update_from_writing(
    store: KVStore, asked: Shouting
) -> None:
    present = await created(store, asked)
    await store.guaranteed_update("default/a", setting(color="blue"))
    asked.asked.clear()

    stored = await store.guaranteed_update("default/a", setting(color="red"), suggestion=present)

    assert asked.taken() == ["write red", "write red", "read BLUE", "write red", "read RED"]
    assert stored.revision > present.revision


async def test_a_deletion_from_a_suggestion_shows_what_that_was_translated_to(store: KVStore, asked: Shouting) -> None:
    present = await created(store, asked)

    stored = await store.delete("default/a", suggestion=present)

    assert asked.taken() == ["write red", "read RED"]
    assert stored.decode()["spec"] == {"color": "red"}


async def test_a_deletion_reads_what_it_deletes_and_shows_it(store: KVStore, asked: Shouting) -> None:
    await created(store, asked)

    await store.delete("default/a")

    assert asked.taken() == ["read RED", "read RED"]


async def test_a_dry_run_translates_as_the_write_would(store: KVStore, asked: Shouting) -> None:
    dry = DryRunnableStorage(store)

    shown = await dry.create("default/a", widget("a", color="Red"), dry_run=True)

    assert asked.taken() == ["write Red", "read RED"]
    assert shown.decode()["spec"] == {"color": "red"}


async def test_a_dry_update_translates_as_the_write_would(store: KVStore, asked: Shouting) -> None:
    present = await created(store, asked)

    shown = await DryRunnableStorage(store).guaranteed_update("default/a", setting(color="Blue"), dry_run=True)

    assert asked.taken() == ["read RED", "write Blue", "read BLUE"]
    assert (shown.revision, shown.decode()["spec"]) == (present.revision, {"color": "blue"})
