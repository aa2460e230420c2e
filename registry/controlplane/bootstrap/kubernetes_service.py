"""kubernetes_service: keeps the service `kubernetes` in the namespace `default`, by which pods find the API servers.

Every server holds a lease under its address. The addresses with a lease are the service's endpoints. Must hold: a
running server keeps its address in the endpoints. A server that stops removes its address at once. A killed server's
address goes when its lease expires. A Service, Endpoints or EndpointSlice that a client has deleted comes back within
INTERVAL_SECONDS.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from functools import partial
from ipaddress import ip_address

from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.groups.core.services.endpoints import ENDPOINTS
from aio_apiserver.registry.groups.core.services.services import SERVICES
from aio_apiserver.registry.groups.discovery.endpointslices import ENDPOINTSLICES
from aio_apiserver.registry.groups.networking.ipaddresses import IPADDRESSES
from aio_apiserver.storage.errors import KeyNotFound
from aio_apiserver.storage.interface import ListOptions, Resource, Storage, Update
from aio_apiserver.storage.stored_object import StoredObject

logger = logging.getLogger(__name__)

LEASES = Resource(
    group="", resource="masterleases", namespaced=False, type_meta={"kind": ENDPOINTS.kind, "apiVersion": "v1"}
)
INTERVAL_SECONDS = 10.0
_LEASE_SECONDS = 15

_NAME = "kubernetes"
_NAMESPACE = "default"
_SERVICES = ResourcePath(SERVICES.group, "v1", SERVICES.plural)
_ADDRESSES = ResourcePath(IPADDRESSES.group, "v1", IPADDRESSES.plural)
_ENDPOINTS = ResourcePath(ENDPOINTS.group, "v1", ENDPOINTS.plural)
_ENDPOINTSLICES = ResourcePath(ENDPOINTSLICES.group, "v1", ENDPOINTSLICES.plural)
_PARENT = {"resource": SERVICES.plural, "namespace": _NAMESPACE, "name": _NAME}
_PAUSE_SECONDS = 0.1
_PATIENCE = 20
"""More pauses than any server needs between its IPAddress and its Service."""
_PORT_NAME = "https"
_SERVICE_PORT = 443


class Advertised(Struct, frozen=True, kw_only=True):
    """The addresses of this server: `service_address` is the service's, `address` and `port` are its own.

    Without an address that other hosts can reach, nothing is advertised, and the service has no endpoints.
    """

    service_address: str
    address: str
    port: int


class KubernetesService:
    """Keeps the service for one server."""

    def __init__(self, client: OwnClient, leases: Storage, advertised: Advertised, patience: Clock) -> None:
        self._client = client
        self._patience = patience
        self._leases = leases
        self._advertised = advertised

    async def ensure_service(self) -> None:
        """Create the service if it is missing. Raises Invalid when another object has its address.

        A server takes the IPAddress before it writes the Service. When it is killed in between, the IPAddress stays.
        """
        waited: Counter[str] = Counter()
        while True:
            try:
                return await self._client.create_missing(_SERVICES, _service(self._advertised), namespace=_NAMESPACE)
            except errors.Invalid:
                uid = await self._uid_of_taken_address()
                waited[uid] += 1
                if waited[uid] > _PATIENCE:
                    if not uid:
                        raise
                    logger.warning("the service %s has no object, but an IPAddress, which is deleted", _NAME)
                    await self._client.delete(_ADDRESSES, self._advertised.service_address, uid=uid)
            await self._patience.sleep(_PAUSE_SECONDS)

    async def keep(self) -> None:
        """Make the service and its endpoints again when a client has deleted them, and renew the lease."""
        await self.ensure_service()
        await self.renew()

    async def renew(self) -> None:
        """Renew this server's lease, and bring the endpoints up to date."""
        if not self._advertised.address:
            return
        await self._leases.guaranteed_update(self._advertised.address, self._renewed, ignore_not_found=True)
        await self._settle_endpoints()

    async def leave(self) -> None:
        """Remove this server's lease and address."""
        if not self._advertised.address:
            return
        try:
            await self._leases.delete(self._advertised.address)
        except KeyNotFound:
            logger.info("the lease of this server has ended before it")
        await self._settle_endpoints()

    async def _uid_of_taken_address(self) -> str:
        """The uid of the IPAddress that was taken for the service; empty when there is none."""
        taken = await self._client.find(_ADDRESSES, self._advertised.service_address)
        if taken is None or not _PARENT.items() <= taken["spec"]["parentRef"].items():
            return ""
        uid: str = taken["metadata"]["uid"]
        return uid

    async def _renewed(self, current: StoredObject | None) -> Update:
        """A changed lease object: only a write extends the lease."""
        address = self._advertised.address
        metadata: Object = current.decode()["metadata"] if current is not None else {"name": address}
        metadata["generation"] = metadata.get("generation", 0) + 1
        return Update({"metadata": metadata, "subsets": [{"addresses": [{"ip": address}]}]}, ttl=_LEASE_SECONDS)

    async def _settle_endpoints(self) -> None:
        leases = await self._leases.get_list("", ListOptions())
        addresses = sorted((lease.key for lease in leases.items), key=ip_address)
        endpoints = _endpoints(addresses, self._advertised.port)
        await self._put(_ENDPOINTS, endpoints, ("subsets",))
        await self._put(_ENDPOINTSLICES, _endpoint_slice(addresses, self._advertised.port), ("endpoints", "ports"))

    async def _put(self, place: ResourcePath, wanted: Object, members: Sequence[str]) -> None:
        mend = partial(_mend, wanted=wanted, members=members)
        try:
            await self._client.change(place, _NAME, mend, namespace=_NAMESPACE)
        except errors.NotFound:
            await self._client.create_missing(place, wanted, namespace=_NAMESPACE)


def _mend(obj: Object, *, wanted: Object, members: Sequence[str]) -> bool:
    """Set the wanted members and labels; returns whether the object has changed."""
    labels = {**(obj["metadata"].get("labels") or {}), **wanted["metadata"]["labels"]}
    is_right = labels == obj["metadata"].get("labels") and all(obj.get(name) == wanted[name] for name in members)
    if is_right:
        return False
    obj["metadata"]["labels"] = labels
    obj.update({name: wanted[name] for name in members})
    return True


def _service(advertised: Advertised) -> Object:
    port = {"name": _PORT_NAME, "protocol": "TCP", "port": _SERVICE_PORT, "targetPort": advertised.port}
    return {
        "metadata": {"name": _NAME, "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "ports": [port],
            "clusterIP": advertised.service_address,
            "ipFamilyPolicy": "SingleStack",
            "type": "ClusterIP",
            "sessionAffinity": "None",
        },
    }


def _endpoints(addresses: Sequence[str], port: int) -> Object:
    ports = [{"name": _PORT_NAME, "port": port, "protocol": "TCP"}]
    subset = {"addresses": [{"ip": address} for address in addresses], "ports": ports}
    labels = {"endpointslice.kubernetes.io/skip-mirror": "true"}
    return {"metadata": {"name": _NAME, "labels": labels}, "subsets": [subset] if addresses else []}


def _endpoint_slice(addresses: Sequence[str], port: int) -> Object:
    family = f"IPv{ip_address(addresses[0]).version}" if addresses else "IPv4"
    return {
        "metadata": {"name": _NAME, "labels": {"kubernetes.io/service-name": _NAME}},
        "addressType": family,
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}} for address in addresses],
        "ports": [{"name": _PORT_NAME, "protocol": "TCP", "port": port}],
    }
