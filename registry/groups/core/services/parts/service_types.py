"""Service types: which fields a service of each type uses. Pure. It reads the spec alone."""

from collections.abc import Mapping, Sequence
from typing import Any

Spec = Mapping[str, Any]

CLUSTER_IP = "ClusterIP"
NODE_PORT = "NodePort"
LOAD_BALANCER = "LoadBalancer"
EXTERNAL_NAME = "ExternalName"
TYPES = (CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT)

NONE = "None"
"""The clusterIP of a headless service."""
IPV4, IPV6 = "IPv4", "IPv6"
SINGLE_STACK, PREFER_DUAL_STACK, REQUIRE_DUAL_STACK = "SingleStack", "PreferDualStack", "RequireDualStack"

_WITH_NODE_PORTS = (NODE_PORT, LOAD_BALANCER)


def ports(spec: Spec) -> Sequence[dict[str, Any]]:
    """The ports of the service."""
    return spec.get("ports") or ()


def cluster_ips(spec: Spec) -> Sequence[str]:
    """The cluster IPs of the service."""
    return spec.get("clusterIPs") or ()


def ip_families(spec: Spec) -> Sequence[str]:
    """The IP families of the service, the primary one first."""
    return spec.get("ipFamilies") or ()


def is_headless(spec: Spec) -> bool:
    """Whether the service is headless."""
    return list(cluster_ips(spec)) == [NONE]


def needs_cluster_ip(spec: Spec) -> bool:
    """Whether the type has a cluster IP, or `None` for a headless service."""
    return bool(spec.get("type") != EXTERNAL_NAME)


def may_have_node_ports(spec: Spec) -> bool:
    """Whether the ports of the service can have node ports."""
    return spec.get("type") in _WITH_NODE_PORTS


def allocates_node_ports(spec: Spec) -> bool:
    """Whether each port of the service gets a node port."""
    if spec.get("type") == LOAD_BALANCER:
        return spec.get("allocateLoadBalancerNodePorts") is not False
    return bool(spec.get("type") == NODE_PORT)


def needs_health_check(spec: Spec) -> bool:
    """Whether load balancers check the health of each node, because traffic goes to local endpoints alone."""
    return bool(spec.get("type") == LOAD_BALANCER and spec.get("externalTrafficPolicy") == "Local")


def is_externally_accessible(spec: Spec) -> bool:
    """Whether the service takes traffic from outside the cluster."""
    return may_have_node_ports(spec) or (spec.get("type") == CLUSTER_IP and bool(spec.get("externalIPs")))


def node_ports(spec: Spec) -> list[int]:
    """The node ports of the service, with repetitions."""
    return [port["nodePort"] for port in ports(spec) if port.get("nodePort")]


def other_family(family: str) -> str:
    """The second IP family of a dual-stack service, when this one is the first."""
    return IPV6 if family == IPV4 else IPV4


def same(new: Spec, old: Spec, name: str) -> bool:
    """Whether a field has the same value in both specs. Empty equals missing."""
    return (new.get(name) or None) == (old.get(name) or None)
