"""Proxies: pods/proxy, services/proxy and nodes/proxy, which forward requests into the cluster.

The name in the path may have a scheme and a port: `https:web:443` is port 443 of web over TLS.

Must hold: pod and service proxies connect to global unicast addresses, not to loopback or link-local ones. The proxy of
nodes leaves this check to the connection (`is_guarded`).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aio_apiserver.base.jitter import chance
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.errors import ServiceUnavailable
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.locations import ConnectRequest, Location, Passage
from aio_apiserver.registry.generic import url_names
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Environment, Request
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.connections.connections import ALL, ConnectSubresource
from aio_apiserver.registry.groups.core.connections.kubelets import Kubelets
from aio_apiserver.registry.groups.core.connections.unicast import is_global
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.services.endpoints import ENDPOINTS

_SCHEMES = ("", "http", "https")
_NOT_ALLOWED = "address not allowed"


class _Target(NamedTuple):
    """The parts of a name in the path; a missing part is empty."""

    scheme: str
    name: str
    port: str


def _target(text: str, what: str) -> _Target:
    """Read name, name:port or scheme:name:port. Raises BadRequest."""
    parts = text.split(":")
    scheme, name, port = ["", *parts, ""][:3] if len(parts) < 3 else parts[:3]
    if len(parts) > 3 or not name or scheme not in _SCHEMES:
        raise errors.BadRequest(f"invalid {what} request {quote(text)}")
    return _Target(scheme, name, port)


class ProxyREST(ConnectSubresource):
    """The base of the three proxies. Their options have one field, the path."""

    verbs = ALL
    takes_paths = True

    async def connect(self, request: Request, name: str, call: ConnectRequest) -> Location | None:
        await self.admit(request, name, {"path": call.path} if call.path else {})
        return await self.locate(request, name, call)

    async def locate(self, request: Request, name: str, call: ConnectRequest) -> Location:
        """The location that the name refers to. Raises StatusError."""
        raise NotImplementedError


class PodProxyREST(ProxyREST):
    """Connects to a pod, on its first container port when the name has no port."""

    def __init__(self, pods: Store, environment: Environment) -> None:
        super().__init__(pods, environment, subresource="proxy", options="PodProxyOptions")

    async def locate(self, request: Request, name: str, call: ConnectRequest) -> Location:
        target = _target(name, "pod")
        pod = await self.get(request, target.name)
        address = next((one.get("ip", "") for one in objects.get(pod, "status.podIPs", ())), "")
        if not is_global(address):
            raise errors.BadRequest(_NOT_ALLOWED)
        port = target.port or next(_ports(pod), "")
        return Location(passage=Passage.PROXY, scheme=target.scheme or "http", host=address, port=port, path=call.path)


def _ports(pod: Object) -> Iterator[str]:
    for container in pod["spec"].get("containers") or ():
        if container.get("ports"):
            yield str(container["ports"][0].get("containerPort", 0))


class NodeProxyREST(ProxyREST):
    """Connects to the kubelet of a node, or to another port of the node."""

    def __init__(self, nodes: Store, environment: Environment) -> None:
        super().__init__(nodes, environment, subresource="proxy", options="NodeProxyOptions")
        self._kubelets = Kubelets(environment)

    async def locate(self, request: Request, name: str, call: ConnectRequest) -> Location:
        target = _target(name, "node")
        kubelet = await self._kubelets.of(target.name, self.kind.resource)
        is_kubelet = target.port in {"", kubelet.port}
        return Location(
            passage=Passage.PROXY,
            scheme="https" if is_kubelet else target.scheme or "http",
            host=kubelet.host,
            port=kubelet.port if is_kubelet else target.port,
            path=call.path,
            is_kubelet=is_kubelet,
            is_guarded=True,
        )


class ServiceProxyREST(ProxyREST):
    """Connects to one of the pods behind a service."""

    def __init__(self, services: Store, environment: Environment) -> None:
        super().__init__(services, environment, subresource="proxy", options="ServiceProxyOptions")
        self._endpoints = Lookup(environment.storage_for(resource_of(ENDPOINTS)), ENDPOINTS.resource, _subsets)
        self._pods = Lookup(environment.storage_for(resource_of(PODS)), PODS.resource, _addresses)
        self._reports_missing = environment.minor.version < (1, 37)

    async def locate(self, request: Request, name: str, call: ConnectRequest) -> Location:
        if not request.namespace:
            raise url_names.namespace_needed()
        target = _target(name, "service")
        port = await self._port_name(request, target)
        key = f"{request.namespace}/{target.name}"
        subsets = await self._newest_subsets(key)
        if not subsets:
            raise ServiceUnavailable(f"no endpoints available for service {quote(target.name)}")
        for subset in _shuffled(subsets):
            for number in (one.get("port", 0) for one in subset.get("ports") or () if one.get("name", "") == port):
                for address in _shuffled(subset.get("addresses") or ()):
                    if await self._is_pod(request, address):
                        return _location(target, address["ip"], number, call)
        raise ServiceUnavailable(f"no endpoints available for service {quote(name)}")

    async def _newest_subsets(self, key: str) -> Sequence[Object]:
        """The subsets of the endpoints. Missing endpoints are NotFound of the service; since 1.37, they have none."""
        try:
            return await self._endpoints.newest(key, reported=self.kind.resource)
        except errors.NotFound:
            if self._reports_missing:
                raise
            return ()

    async def _port_name(self, request: Request, target: _Target) -> str:
        """The name of the service port. A number is looked up in the ports of the service."""
        if not (target.port.isascii() and target.port.isdigit()):
            return target.port
        service = await self.get(request, target.name)
        for port in objects.get(service, "spec.ports", ()):
            if port.get("port") == int(target.port):
                return str(port.get("name", ""))
        why = f"no service port {int(target.port)} found for service {quote(target.name)}"
        raise ServiceUnavailable(why)

    async def _is_pod(self, request: Request, address: Object) -> bool:
        """Whether the address belongs to the pod that the endpoint refers to."""
        reference, text = address.get("targetRef") or {}, address.get("ip", "")
        if reference.get("namespace", "") != request.namespace or not is_global(text):
            return False
        try:
            return text in await self._pods.newest(f"{request.namespace}/{reference.get('name', '')}")
        except errors.NotFound:
            return False


def _subsets(endpoints: Object) -> Sequence[Object]:
    return endpoints.get("subsets") or ()


def _addresses(pod: Object) -> Sequence[str]:
    return [one.get("ip", "") for one in objects.get(pod, "status.podIPs", ())]


def _location(target: _Target, address: str, port: int, call: ConnectRequest) -> Location:
    scheme = target.scheme or "http"
    return Location(passage=Passage.PROXY, scheme=scheme, host=address, port=str(port), path=call.path)


def _shuffled(items: Sequence[Object]) -> list[Object]:
    """The items in random order, for load balancing."""
    return chance.sample(items, len(items))
