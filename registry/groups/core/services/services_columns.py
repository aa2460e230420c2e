"""Services columns: the columns of a Service: addresses inside and outside the cluster, and ports."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE


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


COLUMNS = table_of(
    NAME,
    (Column(name="Type", field="core.v1.ServiceSpec.type"), value("spec.type")),
    (Column(name="Cluster-IP", field="core.v1.ServiceSpec.clusterIP"), _cluster_ip),
    (Column(name="External-IP", field="core.v1.ServiceSpec.externalIPs"), _external_ip),
    (Column(name="Port(s)", field="core.v1.ServiceSpec.ports"), _ports),
    AGE,
    (Column(name="Selector", field="core.v1.ServiceSpec.selector", priority=1), formats.labels("spec.selector")),
)
