"""On demand: loads an admission plugin when the first object of its configuration exists.

Most servers have no admission policies. They do without the CEL modules.
"""

from collections.abc import Callable

from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.storage.interface import Reader


class _OnDemand(Plugin):
    """Creates a plugin once an object of `kind` exists."""

    def __init__(
        self, name: str, operations: frozenset[Operation], *, kind: Kind, storage: Reader, make: Callable[[], Plugin]
    ) -> None:
        self.name = name
        self.operations = operations
        self._objects = Lookup(storage, kind.resource, as_stored)
        self._make = make
        self._plugin: Plugin | None = None

    async def _loaded(self) -> Plugin | None:
        if self._plugin is None and await self._objects.list():
            self._plugin = self._make()
        return self._plugin


class MutatingOnDemand(_OnDemand):
    """Passes objects on to a mutating plugin."""

    async def mutate(self, attributes: Attributes) -> None:
        plugin = await self._loaded()
        if plugin is not None:
            await plugin.mutate(attributes)


class ValidatingOnDemand(_OnDemand):
    """Passes objects on to a validating plugin."""

    async def validate(self, attributes: Attributes) -> None:
        plugin = await self._loaded()
        if plugin is not None:
            await plugin.validate(attributes)
