"""Service resolver: finds the address of a service: its cluster IP, or one of its endpoints.

Endpoints are used with --enable-aggregator-routing.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aio_apiserver.base.jitter import chance
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import ReaderFor
from aio_apiserver.registry.groups.core.services.services import SERVICES

SERVICE_NAME = "kubernetes.io/service-name"
_ROUTED = frozenset({"ClusterIP", "LoadBalancer", "NodePort"})


class Unresolved(Exception):
    """The service has no usable address. The message has the reason."""


class ServiceAddress(NamedTuple):
    """The host and port of a server."""

    host: str
    port: int


class Resolver:
    """Resolves services with reads from the watch cache. `slices` is the kind EndpointSlice."""

    def __init__(self, storage_for: ReaderFor, *, slices: Kind, uses_endpoints: bool) -> None:
        self._services = Lookup(storage_for(resource_of(SERVICES)), SERVICES.resource, as_stored)
        self._slices = Lookup(storage_for(resource_of(slices)), slices.resource, as_stored)
        self._uses_endpoints = uses_endpoints

    async def resolve(self, namespace: str, name: str, port: int) -> ServiceAddress:
        """The address for a port of a service. Raises Unresolved."""
        try:
            service = await self._services.cached(f"{namespace}/{name}")
            if service is None:
                raise Unresolved(f"service {quote(name)} not found")
            if self._uses_endpoints:
                return await self._endpoint(namespace, service, port)
        except StatusError as exc:
            raise Unresolved(exc.message) from exc
        return _cluster_address(service, port)

    async def _endpoint(self, namespace: str, service: Object, port: int) -> ServiceAddress:
        _check_type(service)
        name, port_name = service["metadata"]["name"], _port(service, port).get("name", "")
        found = await self._slices.list(f"{namespace}/", is_selected=lambda labels: labels.get(SERVICE_NAME) == name)
        slices = list(found)
        families: Sequence[str] = objects.get(service, "spec.ipFamilies") or ()
        chance.shuffle(slices)
        slices.sort(key=lambda one: one.get("addressType") != (families[0] if families else None))
        for one in slices:
            ports = [each["port"] for each in one.get("ports") or () if _is_named(each, port_name)]
            addresses = list(_ready(one.get("endpoints") or ()))
            if ports and addresses:
                return ServiceAddress(chance.choice(addresses), ports[0])
        raise Unresolved(f"no endpoints available for service {quote(name)}")


def _cluster_address(service: Object, port: int) -> ServiceAddress:
    spec = service["spec"]
    if spec.get("type") == "ExternalName":
        return ServiceAddress(spec.get("externalName", ""), port)
    _check_type(service)
    if spec.get("type", "ClusterIP") == "ClusterIP" and spec.get("clusterIP") == "None":
        raise Unresolved('cannot route to service with ClusterIP "None"')
    return ServiceAddress(spec.get("clusterIP", ""), _port(service, port)["port"])


def _check_type(service: Object) -> None:
    kind = service["spec"].get("type", "ClusterIP")
    if kind not in _ROUTED:
        raise Unresolved(f"unsupported service type {quote(kind)}")


def _port(service: Object, wanted: int) -> Object:
    for port in service["spec"].get("ports") or ():
        if port.get("port") == wanted:
            found: Object = port
            return found
    raise Unresolved(f"no service port {wanted} found for service {quote(service['metadata']['name'])}")


def _is_named(port: Object, name: str) -> bool:
    return port.get("name", "") == name and port.get("port") is not None


def _ready(endpoints: Iterable[Object]) -> Iterable[str]:
    return (
        str(one["addresses"][0])
        for one in endpoints
        if one.get("addresses") and objects.get(one, "conditions.ready", True) is not False
    )
