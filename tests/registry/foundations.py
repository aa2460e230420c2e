"""What a server stands on, with storage in memory: for the tests of what is assembled from it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.machinery import schema
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory


def foundation_on(factory: StorageFactory, *, clock: Clock | None = None, **parts: Any) -> Foundation:
    """A foundation on storage that is there; several on one are as many servers."""
    return Foundation(
        storage_for=factory.storage_for,
        writable_storage_for=factory.storage_for,
        custom_storage=factory.opened,
        clock=clock or SystemClock(),
        types=schema.builtin(),
        **parts,
    )


@asynccontextmanager
async def foundation(
    *, clock: Clock | None = None, storage: StorageConfig | None = None, **parts: Any
) -> AsyncIterator[Foundation]:
    """A foundation with storage of its own."""
    clock = clock or SystemClock()
    async with StorageFactory(storage or StorageConfig(), clock=clock) as factory:
        yield foundation_on(factory, clock=clock, **parts)
