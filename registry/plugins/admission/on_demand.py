"""On demand: loads an admission plugin when the first object of its configuration exists.

Most servers have no admission policies. They do without the CEL modules.
"""

from collections.abc import Callable

from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.interpret import StorageCall, interpreted
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.storage.interface import ListOptions, Reader

_ANY = ListOptions(resource_version=0, limit=1)


class OnDemand(Plugin):
    """Passes calls on to a plugin, which is created once an object of `kind` exists."""

    def __init__(
        self, name: str, operations: frozenset[Operation], *, kind: Kind, storage: Reader, make: Callable[[], Plugin]
    ) -> None:
        self.name = name
        self.operations = operations
        self._storage = storage
        self._listing = StorageCall(kind.resource, "list")
        self._make = make
        self._plugin: Plugin | None = None

    async def mutate(self, attributes: Attributes) -> None:
        plugin = await self._loaded()
        if plugin is not None:
            await plugin.mutate(attributes)

    async def validate(self, attributes: Attributes) -> None:
        plugin = await self._loaded()
        if plugin is not None:
            await plugin.validate(attributes)

    async def _loaded(self) -> Plugin | None:
        if self._plugin is None:
            found = await interpreted(self._storage.get_list("", _ANY), self._listing)
            if found.items:
                self._plugin = self._make()
        return self._plugin
