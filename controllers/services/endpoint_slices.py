"""Endpoint slices: the Endpoints and EndpointSlices of a service and its pods.

Pure. Must hold: an unchanged slice keeps its name. A slice has at most 100 endpoints, all with the same ports.
"""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import is_ending, is_finished
from aio_apiserver.registry.groups.core.pods.pod_conditions import is_ready

SERVICE_LABEL = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
MANAGER = "endpointslice-controller.k8s.io"
_ENDPOINTS_MANAGED_BY = "endpoints.kubernetes.io/managed-by"
_HEADLESS = "service.kubernetes.io/headless"
_MOST = 100
_ZONE = "topology.kubernetes.io/zone"

Port = tuple[str, str, int | None, str]
"""Name, protocol, number, application protocol."""


def has_selector(service: Object) -> bool:
    return bool(service["spec"].get("selector")) and service["spec"].get("type") != "ExternalName"


def selects(service: Object, pod: Object) -> bool:
    """Whether a service with a selector selects a pod."""
    labels = pod["metadata"].get("labels") or {}
    return has_selector(service) and service["spec"]["selector"].items() <= labels.items()


def is_headless(service: Object) -> bool:
    return bool(service["spec"].get("clusterIP") == "None")


def ports_of(service: Object, pod: Object) -> tuple[Port, ...]:
    """The ports of a pod for the ports of the service. Named ports that the pod does not have are left out."""
    found = []
    for port in service["spec"].get("ports") or ():
        number = _target(port, pod)
        if number is not None:
            found.append((port.get("name", ""), port.get("protocol", "TCP"), number, port.get("appProtocol", "")))
    return tuple(found)


def _target(port: Mapping[str, Any], pod: Object) -> int | None:
    target = port.get("targetPort", port["port"])
    if not isinstance(target, str):
        return int(target) or int(port["port"])
    spec = pod["spec"]
    sidecars = [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    for container in [*spec["containers"], *sidecars]:
        for one in container.get("ports") or ():
            if one.get("name") == target and one.get("protocol", "TCP") == port.get("protocol", "TCP"):
                return int(one["containerPort"])
    return None


def _addresses(pod: Object, family: str) -> list[str]:
    """The first address of a pod in an address family."""
    given = [one["ip"] for one in (pod.get("status") or {}).get("podIPs") or ()]
    version = 6 if family == "IPv6" else 4
    return [one for one in given if ip_address(one).version == version][:1]


def _reference(pod: Object) -> Object:
    metadata = pod["metadata"]
    return {"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]}


def _endpoint(service: Object, pod: Object, addresses: list[str], node: Object | None) -> Object:
    serves = is_ready(pod)
    always = bool(service["spec"].get("publishNotReadyAddresses"))
    endpoint: Object = {
        "addresses": addresses,
        "conditions": {
            "ready": always or (serves and not is_ending(pod)),
            "serving": serves,
            "terminating": is_ending(pod),
        },
        "targetRef": _reference(pod),
    }
    if pod["spec"].get("nodeName"):
        endpoint["nodeName"] = pod["spec"]["nodeName"]
    zone = (node["metadata"].get("labels") or {}).get(_ZONE) if node is not None else None
    if zone:
        endpoint["zone"] = zone
    if _has_name(service, pod):
        endpoint["hostname"] = pod["spec"]["hostname"]
    return endpoint


def _has_name(service: Object, pod: Object) -> bool:
    """Whether the pod has a DNS name of its own below the service's."""
    spec = pod["spec"]
    return bool(spec.get("hostname")) and spec.get("subdomain") == service["metadata"]["name"]


def slices(
    service: Object, pods: Iterable[Object], nodes: Mapping[str, Object], present: Sequence[Object]
) -> list[Object]:
    """All slices of a service. Changed slices reuse the names of present ones."""
    every = list(pods)
    names = {_signature(one): one["metadata"]["name"] for one in reversed(present)}
    spare = [one["metadata"]["name"] for one in present]
    wanted = [one for family in _families(service) for one in _slices_of(service, every, nodes, family)]
    for one in wanted:
        name = names.get(_signature(one))
        if name in spare:
            one["metadata"]["name"] = name
            spare.remove(name)
    for one in wanted:
        if "name" not in one["metadata"] and spare:
            one["metadata"]["name"] = spare.pop(0)
    return wanted


def _signature(one: Object) -> tuple[str, str, int]:
    return one["addressType"], str(one.get("ports")), len(one.get("endpoints") or ())


def _families(service: Object) -> Sequence[str]:
    return service["spec"].get("ipFamilies") or ("IPv4",)


def _slices_of(service: Object, pods: Sequence[Object], nodes: Mapping[str, Object], family: str) -> list[Object]:
    groups: dict[tuple[Port, ...], list[Object]] = {}
    for pod in sorted(pods, key=lambda one: str(one["metadata"]["name"])):
        addresses = _addresses(pod, family)
        if addresses and not is_finished(pod):
            endpoint = _endpoint(service, pod, addresses, nodes.get(pod["spec"].get("nodeName", "")))
            groups.setdefault(ports_of(service, pod), []).append(endpoint)
    groups = groups or {(): []}
    return [
        _slice(service, family, ports, endpoints[start : start + _MOST])
        for ports, endpoints in groups.items()
        for start in range(0, max(1, len(endpoints)), _MOST)
    ]


def _slice(service: Object, family: str, ports: Sequence[Port], endpoints: list[Object]) -> Object:
    metadata = service["metadata"]
    labels = {**(metadata.get("labels") or {}), SERVICE_LABEL: metadata["name"], MANAGED_BY: MANAGER}
    labels.pop(_HEADLESS, None)
    if is_headless(service):
        labels[_HEADLESS] = ""
    owner = {
        "apiVersion": "v1",
        "kind": "Service",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    made = {"generateName": f"{metadata['name']}-", "labels": labels, "ownerReferences": [owner]}
    return {"metadata": made, "addressType": family, "endpoints": endpoints, "ports": [_port(one) for one in ports]}


def _port(port: Port) -> Object:
    name, protocol, number, application = port
    result: Object = {"name": name, "protocol": protocol, "port": number}
    return {**result, "appProtocol": application} if application else result


def endpoints(service: Object, pods: Iterable[Object]) -> Object:
    """The Endpoints of a service."""
    metadata, always = service["metadata"], bool(service["spec"].get("publishNotReadyAddresses"))
    subsets: dict[tuple[Port, ...], dict[str, list[Object]]] = {}
    for pod in sorted(pods, key=lambda one: str(one["metadata"]["name"])):
        addresses = _addresses(pod, _families(service)[0])
        if not addresses or is_finished(pod) or (is_ending(pod) and not always):
            continue
        kind = "addresses" if always or is_ready(pod) else "notReadyAddresses"
        subset = subsets.setdefault(ports_of(service, pod), {})
        subset.setdefault(kind, []).append(_address(service, pod, addresses[0]))
    labels = {**(metadata.get("labels") or {}), _ENDPOINTS_MANAGED_BY: "endpoint-controller"}
    labels.pop(_HEADLESS, None)
    if is_headless(service):
        labels[_HEADLESS] = ""
    result = [
        {**kinds, **({"ports": [_named(one) for one in ports]} if ports else {})} for ports, kinds in subsets.items()
    ]
    return {"metadata": {"name": metadata["name"], "labels": labels}, "subsets": result}


def _named(port: Port) -> Object:
    result = _port(port)
    if not result["name"]:
        del result["name"]
    return result


def _address(service: Object, pod: Object, address: str) -> Object:
    result: Object = {"ip": address, "targetRef": _reference(pod)}
    if pod["spec"].get("nodeName"):
        result["nodeName"] = pod["spec"]["nodeName"]
    if _has_name(service, pod):
        result["hostname"] = pod["spec"]["hostname"]
    return result


def is_own(present: Object) -> bool:
    """Whether this controller has made the Endpoints."""
    return _ENDPOINTS_MANAGED_BY in (present["metadata"].get("labels") or {})


def is_same(wanted: Object, present: Object, *members: str) -> bool:
    """Whether an object has the wanted labels and members already."""
    labels = present["metadata"].get("labels") or {}
    return bool(wanted["metadata"]["labels"] == labels) and all(
        (wanted.get(name) or []) == (present.get(name) or []) for name in members
    )
