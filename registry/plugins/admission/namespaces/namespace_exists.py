"""NamespaceExists: refuses writes in a namespace that does not exist."""

from aio_apiserver.registry.base.errors import NotFound
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES as NAMESPACE_KIND
from aio_apiserver.storage.interface import Reader

NAMESPACES = NAMESPACE_KIND.resource


class NamespaceExists(Plugin):
    """Looks namespaces up in their storage."""

    name = "NamespaceExists"
    operations = frozenset({Operation.CREATE, Operation.UPDATE, Operation.DELETE})

    def __init__(self, namespaces: Reader) -> None:
        self._namespaces: Lookup[bool] = Lookup(namespaces, NAMESPACES, lambda _obj: True)

    async def validate(self, attributes: Attributes) -> None:
        if not attributes.namespace or attributes.resource == NAMESPACES:
            return
        if not await self._namespaces.get(attributes.namespace):
            raise NotFound(NAMESPACES, attributes.namespace)
