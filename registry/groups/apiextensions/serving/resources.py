"""Resources: keeps the storage and types of custom resources from one state of a definition to the next.

Must hold: a change that the storage depends on makes a new storage. Watches on the old one end after a grace period for
running requests. Every opened storage is closed.
"""

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.generic.rest import Environment
from aio_apiserver.registry.generic.webhook_calls import CallWebhook
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Definition, SchemaSource
from aio_apiserver.registry.groups.apiextensions.serving import versioned_storage
from aio_apiserver.registry.groups.apiextensions.serving.offer import Offer
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.interface import Resource, Storage

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.apiextensions.serving import offers
else:
    offers = Deferred("aio_apiserver.registry.groups.apiextensions.serving.offers")

logger = logging.getLogger(__name__)

_GRACE_SECONDS = 1.0
"""The seconds for which running requests may use a storage after its replacement."""

Retire = Callable[[Resource], Storage | None]
"""Removes the storage of a resource, so that its next use makes a new one (StorageFactory.retire)."""


class _Held(Struct, frozen=True):
    """The types and resources for one state of a definition."""

    uid: str
    digest: bytes
    source: SchemaSource
    resources: Mapping[str, Resource]
    types: Mapping[str, CustomType]

    def fits(self, definition: Definition) -> bool:
        return self.uid == definition.uid and self.digest == definition.digest


class CustomResources:
    """Makes the offers of definitions."""

    def __init__(self, environment: Environment, retire: Retire, call_webhook: CallWebhook) -> None:
        self._environment = environment
        self._retire = retire
        self._call_webhook = call_webhook
        self._held: dict[str, _Held] = {}
        self._retired: list[Storage] = []
        self._tasks = Tasks()

    def offer(self, definition: Definition) -> Offer:
        """The offer that a definition makes now."""
        held = self._held.get(definition.name)
        if held is None or not held.fits(definition):
            self.forget(definition.name)
            held = self._held[definition.name] = self._hold(definition)
        held.source.definition = definition
        storages = {name: self._environment.writable_storage_for(one) for name, one in held.resources.items()}
        return offers.offer_of(definition, held.types, storages, self._environment, self._call_webhook)

    def forget(self, name: str) -> None:
        """Retire the storage of a definition."""
        held = self._held.pop(name, None)
        for resource in held.resources.values() if held is not None else ():
            storage = self._retire(resource)
            if storage is not None:
                self._retired.append(storage)
                self._tasks.spawn(self._close_later(storage), name=f"close the storage of {name}")

    async def close(self) -> None:
        """Close the replaced storage. The factory closes the storage in use."""
        await self._tasks.close()
        for storage in self._retired:
            await storage.close()

    def _hold(self, definition: Definition) -> _Held:
        source = SchemaSource(definition)
        types = {
            version.name: CustomType(
                source.reader_of(version.name),
                self._environment.types,
                prunes=not definition.preserves_unknown_fields,
            )
            for version in definition.versions
        }
        resources = versioned_storage.resources_of(definition, types, self._call_webhook)
        for resource in resources.values():
            if resource.translation is not None:
                self._tasks.spawn(self._fill(resource), name=f"fill the cache of {definition.name}")
        return _Held(definition.uid, definition.digest, source, resources, types)

    async def _fill(self, resource: Resource) -> None:
        """Load and convert the objects of a version before the first request needs them."""
        try:
            await self._environment.storage_for(resource).wait_until_ready()
        except StorageError as exc:
            logger.warning("loading the objects of %s failed: %s", resource.resource, exc)

    async def _close_later(self, storage: Storage) -> None:
        await self._environment.clock.patience.sleep(_GRACE_SECONDS)
        await storage.close()
        self._retired.remove(storage)
