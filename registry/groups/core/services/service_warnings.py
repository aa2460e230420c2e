"""Service warnings: the Warning headers for accepted services: ignored or deprecated fields, and unusual addresses.
Pure.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import addresses
from aio_apiserver.registry.groups.core.services.parts import service_types
from aio_apiserver.registry.groups.core.services.parts.service_types import CLUSTER_IP, EXTERNAL_NAME, Spec
from aio_apiserver.registry.groups.core.services.service_validation import PREFER_CLOSE, TOPOLOGY_HINTS, TOPOLOGY_MODE


def of_spec(service: Object) -> list[str]:
    """The warnings for the spec of a service."""
    spec, annotations = service["spec"], service["metadata"].get("annotations") or {}
    found = []
    if TOPOLOGY_HINTS in annotations:
        found.append(f"annotation {TOPOLOGY_HINTS} is deprecated, please use {TOPOLOGY_MODE} instead")
    if spec.get("clusterIP") not in {None, "", service_types.NONE}:
        for index, address in enumerate(service_types.cluster_ips(spec)):
            found += addresses.warn(address, f"spec.clusterIPs[{index}]")
    return found + _warn_headless(spec) + _warn_external(spec) + _warn_ignored(spec)


def _is_plain_headless(spec: Spec) -> bool:
    return spec.get("type") == CLUSTER_IP and spec.get("clusterIP") == service_types.NONE


def _warn_headless(spec: Spec) -> list[str]:
    if not _is_plain_headless(spec):
        return []
    ignored = (
        ("loadBalancerIP", bool(spec.get("loadBalancerIP"))),
        ("externalIPs", bool(spec.get("externalIPs"))),
        ("SessionAffinity", spec.get("sessionAffinity") != "None"),
    )
    return [f"spec.{name} is ignored for headless services" for name, is_set in ignored if is_set]


def _warn_external(spec: Spec) -> list[str]:
    external, found = spec.get("externalIPs") or (), []
    for index, address in enumerate(external):
        found += addresses.warn(address, f"spec.externalIPs[{index}]")
    if external and not _is_plain_headless(spec) and spec.get("type") != EXTERNAL_NAME:
        found.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if spec.get("loadBalancerIP"):
        found += addresses.warn(spec["loadBalancerIP"], "spec.loadBalancerIP")
    for index, block in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        found += addresses.warn_cidr(block, f"spec.loadBalancerSourceRanges[{index}]")
    return found


def _warn_ignored(spec: Spec) -> list[str]:
    found, name = [], quote(EXTERNAL_NAME)
    if spec.get("type") == EXTERNAL_NAME and spec.get("externalIPs"):
        found.append(f"spec.externalIPs is ignored when spec.type is {name}")
    if spec.get("type") != EXTERNAL_NAME and spec.get("externalName"):
        found.append(f"spec.externalName is ignored when spec.type is not {name}")
    if spec.get("trafficDistribution") == PREFER_CLOSE:
        found.append(f'spec.trafficDistribution: {quote(PREFER_CLOSE)} is deprecated; use "PreferSameZone"')
    return found


def of_status(service: Object) -> list[str]:
    """The warnings for the load balancer status of a service or an ingress."""
    entries = objects.get(service, "status.loadBalancer.ingress") or ()
    return [
        warning
        for index, entry in enumerate(entries)
        if entry.get("ip")
        for warning in addresses.warn(entry["ip"], f"status.loadBalancer.ingress[{index}]")
    ]
