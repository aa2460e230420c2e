"""Endpoint mirrors: the EndpointSlices that repeat the Endpoints of a service without a selector.

Pure. Must hold: an unchanged slice keeps its name. A slice has all addresses with its ports and its address family.
"""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import controller_reference

SERVICE_LABEL = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
MANAGER = "endpointslicemirroring-controller.k8s.io"
_SKIPPED = "endpointslice.kubernetes.io/skip-mirror"
_LEADER = "control-plane.alpha.kubernetes.io/leader"
_LEFT_OUT = ("endpoints.kubernetes.io/last-change-trigger-time", "kubectl.kubernetes.io/last-applied-configuration")
_MOST = 1000
"""The most addresses of one subset that are mirrored."""

SliceKey = tuple[str, str]
"""Address family and ports."""


def wants_mirror(endpoints: Object | None, service: Object | None) -> bool:
    """Whether Endpoints have to be mirrored: those of a service without a selector."""
    if endpoints is None or service is None or service["spec"].get("selector"):
        return False
    metadata = endpoints["metadata"]
    is_skipped = (metadata.get("labels") or {}).get(_SKIPPED) == "true"
    return not is_skipped and _LEADER not in (metadata.get("annotations") or {})


def slices(endpoints: Object, present: Sequence[Object]) -> list[Object]:
    """The slices of Endpoints. Those with the family and ports of a present one have its name."""
    names = {_key(one): one["metadata"]["name"] for one in present}
    found: dict[SliceKey, Object] = {}
    for subset in endpoints.get("subsets") or ():
        ports = [_port(one) for one in subset.get("ports") or ()] or [{"name": "", "protocol": "TCP"}]
        for family, endpoint in _endpoints(subset):
            one = found.setdefault((family, str(ports)), _slice(endpoints, family, ports))
            one["endpoints"].append(endpoint)
    for key, one in found.items():
        name = names.get(key)
        one["metadata"].update({"name": name} if name else {"generateName": f"{endpoints['metadata']['name']}-"})
    return list(found.values())


def _key(one: Object) -> SliceKey:
    return one["addressType"], str([_port(port) for port in one.get("ports") or ()])


def _port(port: Mapping[str, Any]) -> Object:
    made: Object = {"name": port.get("name") or "", "protocol": port.get("protocol") or "TCP", "port": port.get("port")}
    return {**made, "appProtocol": port["appProtocol"]} if port.get("appProtocol") else made


def _endpoints(subset: Mapping[str, Any]) -> Iterator[tuple[str, Object]]:
    """The endpoints of a subset with their address families."""
    left = _MOST
    for member, is_ready in (("addresses", True), ("notReadyAddresses", False)):
        for address in (subset.get(member) or ())[:left]:
            left -= 1
            ip = ip_address(address["ip"])
            endpoint: Object = {"addresses": [str(ip)], "conditions": {"ready": is_ready}}
            endpoint.update(
                {name: address[name] for name in ("targetRef", "nodeName", "hostname") if address.get(name)}
            )
            yield ("IPv6" if ip.version == 6 else "IPv4"), endpoint


def _slice(endpoints: Object, family: str, ports: Sequence[Object]) -> Object:
    metadata = endpoints["metadata"]
    labels = {**(metadata.get("labels") or {}), SERVICE_LABEL: metadata["name"], MANAGED_BY: MANAGER}
    given = metadata.get("annotations") or {}
    return {
        "metadata": {
            "labels": labels,
            "annotations": {name: given[name] for name in given if name not in _LEFT_OUT},
            "ownerReferences": [controller_reference(endpoints, "v1", "Endpoints")],
        },
        "addressType": family,
        "ports": list(ports),
        "endpoints": [],
    }


def is_mirror(one: Object) -> bool:
    """Whether this controller has made a slice."""
    return (one["metadata"].get("labels") or {}).get(MANAGED_BY) == MANAGER


def mend(wanted: Object, present: Object) -> bool:
    """Make a present slice as it is wanted. Returns whether it differed."""
    metadata, given = present["metadata"], wanted["metadata"]
    is_same = (metadata.get("labels") or {}) == given["labels"]
    is_same = is_same and (metadata.get("annotations") or {}) == given["annotations"]
    if is_same and (present.get("endpoints") or []) == wanted["endpoints"]:
        return False
    metadata.update({"labels": given["labels"], "annotations": given["annotations"]})
    present["endpoints"] = wanted["endpoints"]
    return True
