"""The storages and types of custom resources, kept from one state of a definition to the next.

Must hold: a change of what storage depends on makes a new storage, and ends the watches on the old one after those
who use it have had time to finish; what was opened is closed.
"""

from collections.abc import Callable
from dataclasses import dataclass

from registry.customresources import offers, versioned_storage
from registry.customresources.definition import Definition
from registry.customresources.offers import Offer
from registry.customresources.versioned_storage import VersionedStorage
from registry.rest import Environment
from registry.schema.custom_type import CustomType
from storage.interface import Resource, Storage
from storage.tasks import Tasks

_GRACE_SECONDS = 1.0
"""How long requests may go on with a storage after it was replaced."""

Retire = Callable[[Resource], Storage | None]
"""Lets go of the storage of a resource, so that the next use makes another: StorageFactory.retire."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What belongs to one state of a definition."""

    uid: str
    digest: bytes
    resource: Resource
    types: dict[str, CustomType]
    storage: VersionedStorage

    def fits(self, definition: Definition) -> bool:
        return self.uid == definition.uid and self.digest == definition.digest


class Resources:
    """Makes the offers of definitions."""

    def __init__(self, environment: Environment, retire: Retire) -> None:
        self._environment = environment
        self._retire = retire
        self._held: dict[str, _Held] = {}
        self._retired: list[Storage] = []
        self._tasks = Tasks()

    def offer(self, definition: Definition) -> Offer:
        """What is served of a definition now."""
        held = self._held.get(definition.name)
        if held is None or not held.fits(definition):
            self.forget(definition.name)
            held = self._held[definition.name] = self._hold(definition)
        return offers.offer_of(definition, held.types, held.storage, self._environment)

    def forget(self, name: str) -> None:
        """Let go of what belongs to a definition."""
        held = self._held.pop(name, None)
        storage = self._retire(held.resource) if held is not None else None
        if storage is not None:
            self._retired.append(storage)
            self._tasks.spawn(self._close_later(storage), name=f"close the storage of {name}")

    async def close(self) -> None:
        """Close what was replaced; what is in use belongs to the factory."""
        await self._tasks.close()
        for storage in self._retired:
            await storage.close()

    def _hold(self, definition: Definition) -> _Held:
        types = {
            version.name: CustomType(
                definition.schema_reader(version.name),
                self._environment.types,
                prunes=not definition.preserves_unknown_fields,
            )
            for version in definition.versions
        }
        resource = versioned_storage.resource_of(definition, types)
        storage = VersionedStorage(self._environment.storage_for(resource), definition)
        return _Held(definition.uid, definition.digest, resource, types, storage)

    async def _close_later(self, storage: Storage) -> None:
        await self._environment.clock.sleep(_GRACE_SECONDS)
        await storage.close()
        self._retired.remove(storage)
