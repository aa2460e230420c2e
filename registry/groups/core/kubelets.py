"""Kubelets: finds the address of a node's kubelet in the status of the Node; --kubelet-preferred-address-types sets the
order.
"""

from collections.abc import Sequence

from msgspec import Struct

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.interpret import StorageCall, interpreted
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Environment
from aio_apiserver.registry.groups.core.nodes import NODES
from aio_apiserver.storage.stored_object import Object


class KubeletAddress(Struct, frozen=True):
    """The host and port of a kubelet, which serves HTTPS."""

    host: str
    port: str


class Kubelets:
    """Reads nodes from storage."""

    def __init__(self, environment: Environment) -> None:
        self._nodes = environment.storage_for(resource_of(NODES))
        self._config = environment.config

    async def of(self, node: str, asked: GroupResource) -> KubeletAddress:
        """The address of a node's kubelet. Raises NotFound for the resource of the request (`asked`), as kube-apiserver
        does.
        """
        found = await interpreted(self._nodes.get(node), StorageCall(asked, "get", node))
        obj = found.decode()
        port = objects.get(obj, "status.daemonEndpoints.kubeletEndpoint.Port", 0)
        return KubeletAddress(self._address(obj), str(port if port > 0 else self._config.kubelet_port))

    def _address(self, node: Object) -> str:
        addresses: Sequence[Object] = objects.get(node, "status.addresses", ())
        for kind in self._config.kubelet_address_types:
            for address in addresses:
                if address.get("type") == kind:
                    return str(address.get("address", ""))
        shown = " ".join(f"{{{one.get('type', '')} {one.get('address', '')}}}" for one in addresses)
        raise StatusError(f"no preferred addresses found; known addresses: [{shown}]")
