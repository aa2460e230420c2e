"""Kubelets: finds the address of a node's kubelet in the status of the Node; --kubelet-preferred-address-types sets the
order.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Environment
from aio_apiserver.registry.groups.core.nodes.nodes import NODES


class KubeletAddress(Struct, frozen=True):
    """The host and port of a kubelet, which serves HTTPS."""

    host: str
    port: str


class _Endpoints(NamedTuple):
    """The addresses of a node, and the port of its kubelet; 0 when the node has none."""

    addresses: Sequence[Object]
    port: int


def _endpoints(node: Object) -> _Endpoints:
    port = objects.get(node, "status.daemonEndpoints.kubeletEndpoint.Port", 0)
    return _Endpoints(objects.get(node, "status.addresses", ()), max(port, 0))


class Kubelets:
    """Looks nodes up."""

    def __init__(self, environment: Environment) -> None:
        self._nodes = Lookup(environment.storage_for(resource_of(NODES)), NODES.resource, _endpoints)
        self._config = environment.config

    async def of(self, node: str, requested: GroupResource) -> KubeletAddress:
        """The address of a node's kubelet. Raises NotFound for the resource of the request, as kube-apiserver does."""
        found = await self._nodes.newest(node, reported=requested)
        return KubeletAddress(self._address(found.addresses), str(found.port or self._config.kubelet_port))

    def _address(self, addresses: Sequence[Object]) -> str:
        for kind in self._config.kubelet_address_types:
            for address in addresses:
                if address.get("type") == kind:
                    return str(address.get("address", ""))
        shown = " ".join(f"{{{one.get('type', '')} {one.get('address', '')}}}" for one in addresses)
        raise StatusError(f"no preferred addresses found; known addresses: [{shown}]")
