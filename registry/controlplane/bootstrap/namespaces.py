"""Namespaces: creates the system namespaces, such as kube-system and default."""

from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.plugins.admission.namespaces.namespace_lifecycle import IMMORTAL

_PLACE = ResourcePath(NAMESPACES.group, "v1", NAMESPACES.plural)
_OF_NODES = "kube-node-lease"


async def ensure(client: OwnClient) -> None:
    """Create the missing ones."""
    for name in sorted({*IMMORTAL, _OF_NODES}):
        await client.create_missing(_PLACE, {"metadata": {"name": name}})
