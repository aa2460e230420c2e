"""Tests the creation and deletion of namespaces."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.users import ANONYMOUS
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Made, Request, UpdatedObject
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.groups.core.namespaces.namespaces_deletion import FinalizeREST, NamespaceStore
from aio_apiserver.storage.factory.dry_run import DryRunnableStorage
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.interface import Preconditions
from aio_apiserver.storage.stored_object import StoredObject

REQUEST = Request(user=ANONYMOUS, version="v1", warn=lambda _text: None)


@asynccontextmanager
async def namespaces(**metadata: object) -> AsyncIterator[NamespaceStore]:
    """A store with the namespace `a`."""
    clock = ManualClock()
    async with StorageFactory(StorageConfig(watch_cache=False), clock=clock) as factory:
        storage = DryRunnableStorage(factory.storage_for(resource_of(NAMESPACES)))
        store = NamespaceStore(kind=NAMESPACES, storage=storage, strategy=NAMESPACES.strategy, clock=clock)
        await store.create(REQUEST, {"metadata": {"name": "a", **metadata}}, CreateOptions())
        yield store


async def finalize(store: NamespaceStore, *finalizers: str) -> None:
    async def make(current: StoredObject | None) -> Made:
        assert current is not None
        return Made({**current.decode(), "spec": {"finalizers": list(finalizers)}})

    await FinalizeREST(store).update(REQUEST, "a", UpdatedObject(make), UpdateOptions())


async def test_a_deleted_namespace_stays_as_terminating() -> None:
    async with namespaces() as store:
        deleted = await store.delete(REQUEST, "a", DeleteOptions())

        found = (await store.get(REQUEST, "a")).decode()
    assert not deleted.is_gone
    assert found["status"]["phase"] == "Terminating"
    assert found["metadata"]["deletionTimestamp"]
    assert "deletionGracePeriodSeconds" not in found["metadata"]


async def test_a_terminating_namespace_is_deleted_with_its_last_finalizer() -> None:
    async with namespaces() as store:
        await store.delete(REQUEST, "a", DeleteOptions())

        await finalize(store)

        with pytest.raises(errors.NotFound):
            await store.get(REQUEST, "a")


async def test_metadata_finalizers_also_keep_a_namespace() -> None:
    async with namespaces(finalizers=["example.com/x"]) as store:
        await store.delete(REQUEST, "a", DeleteOptions())

        await finalize(store)

        assert (await store.get(REQUEST, "a")).decode()["metadata"]["finalizers"] == ["example.com/x"]


async def test_an_active_namespace_without_finalizers_stays() -> None:
    async with namespaces() as store:
        await finalize(store)

        assert (await store.get(REQUEST, "a")).decode()["status"]["phase"] == "Active"


async def test_a_delete_with_other_preconditions_is_refused() -> None:
    async with namespaces() as store:
        options = DeleteOptions(preconditions=Preconditions(uid="other"))

        with pytest.raises(errors.Conflict, match="UID in precondition: other"):
            await store.delete(REQUEST, "a", options)


async def test_a_dry_run_does_not_mark_the_namespace() -> None:
    async with namespaces() as store:
        deleted = await store.delete(REQUEST, "a", replace(DeleteOptions(), dry_run=("All",)))

        found = (await store.get(REQUEST, "a")).decode()
    assert deleted.stored.decode()["status"]["phase"] == "Terminating"
    assert found["status"]["phase"] == "Active"
