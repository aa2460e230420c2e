"""NamespaceAutoProvision: creates a missing namespace when the first object in it is created.

Must hold: a dry run creates no namespace.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic import preparation
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.interpret import StorageCall, interpreted
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES


class NamespaceAutoProvision(Plugin):
    """Creates namespaces in their storage, without another pass through admission."""

    name = "NamespaceAutoProvision"
    operations = frozenset({Operation.CREATE})

    def __init__(self, given: Foundation) -> None:
        self._given = given
        self._storage = given.writable_storage_for(resource_of(NAMESPACES))
        self._known: Lookup[bool] = Lookup(self._storage, NAMESPACES.resource, lambda _obj: True)

    async def mutate(self, attributes: Attributes) -> None:
        name = attributes.namespace
        if attributes.is_dry_run or not name or attributes.resource == NAMESPACES.resource:
            return
        if await self._known.get(name):
            return
        writing = self._storage.create(name, self._namespace(name))
        try:
            await interpreted(writing, StorageCall(NAMESPACES.resource, "create", name))
        except errors.AlreadyExists:
            return

    def _namespace(self, name: str) -> Object:
        obj: Object = {"metadata": {"name": name}}
        preparation.fill_system_fields(obj, now=self._given.clock.now())
        NAMESPACES.strategy.prepare_for_create(StrategyContext(namespace=""), obj)
        NAMESPACES.strategy.canonicalize(obj)
        printed = self._given.types.type_for("", NAMESPACES.hub_version, NAMESPACES.kind).canonical(obj)
        return {member: value for member, value in printed.items() if member not in {"apiVersion", "kind"}}
