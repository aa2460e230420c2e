"""What the type of a service means: which of its fields are in use. Pure; it looks at the spec alone."""

from collections.abc import Mapping, Sequence
from typing import Any

Spec = Mapping[str, Any]

CLUSTER_IP = "ClusterIP"
NODE_PORT = "NodePort"
LOAD_BALANCER = "LoadBalancer"
EXTERNAL_NAME = "ExternalName"
TYPES = (CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT)

NONE = "None"
"""The address of a service that has none on purpose: it is headless."""
IPV4, IPV6 = "IPv4", "IPv6"
SINGLE_STACK, PREFER_DUAL_STACK, REQUIRE_DUAL_STACK = "SingleStack", "PreferDualStack", "RequireDualStack"

_WITH_NODE_PORTS = (NODE_PORT, LOAD_BALANCER)


def ports(spec: Spec) -> Sequence[dict[str, Any]]:
    """Its ports."""
    return spec.get("ports") or ()


def cluster_ips(spec: Spec) -> Sequence[str]:
    """Its addresses."""
    return spec.get("clusterIPs") or ()


def ip_families(spec: Spec) -> Sequence[str]:
    """Its IP families, the primary one first."""
    return spec.get("ipFamilies") or ()


def is_headless(spec: Spec) -> bool:
    """Whether it has deliberately no address."""
    return list(cluster_ips(spec)) == [NONE]


def needs_cluster_ip(spec: Spec) -> bool:
    """Whether it has an address, or says deliberately that it has none."""
    return bool(spec.get("type") != EXTERNAL_NAME)


def may_have_node_ports(spec: Spec) -> bool:
    """Whether its ports can have node ports."""
    return spec.get("type") in _WITH_NODE_PORTS


def allocates_node_ports(spec: Spec) -> bool:
    """Whether each of its ports gets a node port."""
    if spec.get("type") == LOAD_BALANCER:
        return spec.get("allocateLoadBalancerNodePorts") is not False
    return bool(spec.get("type") == NODE_PORT)


def needs_health_check(spec: Spec) -> bool:
    """Whether load balancers ask each node whether it serves: they send traffic to those that do only."""
    return bool(spec.get("type") == LOAD_BALANCER and spec.get("externalTrafficPolicy") == "Local")


def is_externally_accessible(spec: Spec) -> bool:
    """Whether traffic comes from outside."""
    return may_have_node_ports(spec) or (spec.get("type") == CLUSTER_IP and bool(spec.get("externalIPs")))


def node_ports(spec: Spec) -> list[int]:
    """The node ports of its ports, as often as they are there."""
    return [port["nodePort"] for port in ports(spec) if port.get("nodePort")]


def other_family(family: str) -> str:
    """The IP family that a service with two has besides this one."""
    return IPV6 if family == IPV4 else IPV4


def same(new: Spec, old: Spec, name: str) -> bool:
    """Whether a member of the spec is what it was; what is empty is as good as missing."""
    return (new.get(name) or None) == (old.get(name) or None)
