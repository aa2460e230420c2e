"""Services and what stands behind them: endpoints and endpoint slices."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE, UNSET
from aio_apiserver.storage.stored_object import Object

_SHOWN = 3


def _cluster_ip(service: Object, _now: float) -> str:
    return next(iter(objects.get(service, "spec.clusterIPs", ())), NONE)


def _external_ip(service: Object, _now: float) -> str:
    external = objects.get(service, "spec.externalIPs", [])
    match objects.get(service, "spec.type"):
        case "ClusterIP" | "NodePort":
            return ",".join(external) or NONE
        case "LoadBalancer":
            balanced = formats.addresses(objects.get(service, "status.loadBalancer.ingress", ()))
            return ",".join([*([balanced] if balanced else []), *external]) or "<pending>"
        case "ExternalName":
            return str(objects.get(service, "spec.externalName", ""))
        case _:
            return "<unknown>"


def _ports(service: Object, _now: float) -> str:
    return ",".join(map(_port, objects.get(service, "spec.ports", ()))) or NONE


def _port(port: Mapping[str, Any]) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{node_port}/{port.get('protocol', '')}"


SERVICES = table_of(
    NAME,
    (Column(name="Type", field="core.v1.ServiceSpec.type"), value("spec.type")),
    (Column(name="Cluster-IP", field="core.v1.ServiceSpec.clusterIP"), _cluster_ip),
    (Column(name="External-IP", field="core.v1.ServiceSpec.externalIPs"), _external_ip),
    (Column(name="Port(s)", field="core.v1.ServiceSpec.ports"), _ports),
    AGE,
    (Column(name="Selector", field="core.v1.ServiceSpec.selector", priority=1), formats.labels("spec.selector")),
)


def _endpoints(obj: Object, _now: float) -> str:
    subsets = obj.get("subsets") or ()
    if not subsets:
        return NONE
    texts = [text for subset in subsets for text in _of_subset(subset)]
    return formats.with_more(texts, _SHOWN, len(texts))


def _of_subset(subset: Mapping[str, Any]) -> Sequence[str]:
    addresses = [one.get("ip", "") for one in subset.get("addresses") or ()]
    ports = subset.get("ports") or ()
    if not ports:
        return addresses
    return [_host_port(address, port.get("port", 0)) for port in ports for address in addresses]


def _host_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


ENDPOINTS = table_of(NAME, (Column(name="Endpoints", field="core.v1.Endpoints.subsets"), _endpoints), AGE)


def _slice_ports(obj: Object, _now: float) -> str:
    texts = [_slice_port(port) for port in obj.get("ports") or ()]
    return formats.with_more(texts, _SHOWN, len(texts)) or UNSET


def _slice_port(port: Mapping[str, Any]) -> str:
    if port.get("port") is not None:
        return str(port["port"])
    name = port.get("name")
    return "*" if name is None else str(name)


def _slice_endpoints(obj: Object, _now: float) -> str:
    texts = [address for one in obj.get("endpoints") or () for address in one.get("addresses") or ()]
    return formats.with_more(texts, _SHOWN, len(texts)) or UNSET


ENDPOINT_SLICES = table_of(
    NAME,
    (Column(name="AddressType", field="discovery.v1.EndpointSlice.addressType"), value("addressType")),
    (Column(name="Ports", field="discovery.v1.EndpointSlice.ports"), _slice_ports),
    (Column(name="Endpoints", field="discovery.v1.EndpointSlice.endpoints"), _slice_endpoints),
    AGE,
)
