"""Stores of widgets in memory, for tests of the generic registry."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.access.users import ANONYMOUS
from aio_apiserver.registry.generic.admission.interface import Attributes, Chain, Plugin
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Made, Request, UpdatedObject
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.generic.strategy import Strategy
from aio_apiserver.storage.factory.dry_run import DryRunnableStorage
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.stored_object import StoredObject

WIDGETS = Kind(group="example.com", plural="widgets", kind="Widget")
REQUEST = Request(user=ANONYMOUS, version="v1", warn=lambda _text: None, namespace="n")
DRY = ("All",)


class Graceful(Strategy, frozen=True):
    """Widgets have a graceful deletion: 30 seconds, or the deletion's grace period."""

    def check_graceful_delete(self, obj: Object, options: DeleteOptions) -> int | None:
        return 30 if options.grace_period_seconds is None else options.grace_period_seconds


@dataclass
class Interfering(Plugin):
    """Runs another writer's change once, while a request is on its way."""

    act: Callable[[], Any] | None = field(default=None)

    async def mutate(self, attributes: Attributes) -> None:
        act, self.act = self.act, None
        if act is not None:
            await act()


@asynccontextmanager
async def widgets(strategy: Strategy | None = None, **parts: Any) -> AsyncIterator[Store]:
    """A Store on an empty storage, with a clock that stands still."""
    clock = ManualClock()
    async with StorageFactory(StorageConfig(watch_cache=False), clock=clock) as factory:
        storage = DryRunnableStorage(factory.storage_for(resource_of(WIDGETS)))
        yield Store(kind=WIDGETS, storage=storage, strategy=strategy or Strategy(), clock=clock, **parts)


async def create(store: Store, name: str = "a", **metadata: Any) -> StoredObject:
    return await store.create(REQUEST, {"metadata": {"name": name, **metadata}, "spec": {"count": 1}}, CreateOptions())


async def put(store: Store, obj: Object, *, dry_run: tuple[str, ...] = (), **more: Any) -> StoredObject:
    async def make(_current: StoredObject | None) -> Made:
        return Made(obj)

    options = UpdateOptions(dry_run=dry_run)
    return (await store.update(REQUEST, obj["metadata"]["name"], UpdatedObject(make), options, **more)).stored


async def change(store: Store, name: str = "a", **metadata: Any) -> StoredObject:
    """Put an object with other metadata."""
    obj = (await store.get(REQUEST, name)).decode()
    obj["metadata"].update(metadata)
    return await put(store, obj)


def interfering(plugin: Interfering) -> Chain:
    return Chain((plugin,))
