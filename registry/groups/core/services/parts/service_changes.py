"""Service changes: completes an update of a service with fields that belong together, and with the allocated values.

Pure: each function changes the new spec in place. Must hold: a field that the client has changed is left for
validation. Repeated and missing fields are settled here.
"""

from typing import Any

from aio_apiserver.registry.groups.core.services.parts import service_types
from aio_apiserver.registry.groups.core.services.parts.service_types import LOAD_BALANCER, Spec, same

NewSpec = dict[str, Any]


def drop_unused(new: NewSpec, old: Spec) -> None:
    """Remove the fields that the old type needed and the new type does not have, unless the client has changed them."""
    _drop_addresses(new, old)
    if service_types.may_have_node_ports(old) and not service_types.may_have_node_ports(new):
        _drop_node_ports(new, old)
    if service_types.needs_health_check(old) and not service_types.needs_health_check(new):
        _drop_if_same(new, old, "healthCheckNodePort")
    if old.get("type") == LOAD_BALANCER and new.get("type") != LOAD_BALANCER:
        _drop_if_same(new, old, "allocateLoadBalancerNodePorts")
        _drop_if_same(new, old, "loadBalancerClass")
    if service_types.is_externally_accessible(old) and not service_types.is_externally_accessible(new):
        _drop_if_same(new, old, "externalTrafficPolicy")


def _drop_addresses(new: NewSpec, old: Spec) -> None:
    if not service_types.needs_cluster_ip(old) or service_types.needs_cluster_ip(new):
        return
    if same(new, old, "clusterIP") and same(new, old, "clusterIPs"):
        new.pop("clusterIP", None)
        new.pop("clusterIPs", None)
    _drop_if_same(new, old, "ipFamilies")
    _drop_if_same(new, old, "ipFamilyPolicy")


def _drop_node_ports(new: NewSpec, old: Spec) -> None:
    if not set(service_types.node_ports(new)) <= set(service_types.node_ports(old)):
        return
    for port in service_types.ports(new):
        port.pop("nodePort", None)


def _drop_if_same(new: NewSpec, old: Spec, name: str) -> None:
    if new.get(name) == old.get(name):
        new.pop(name, None)


def settle_cluster_ips(new: NewSpec, old: Spec | None = None) -> None:
    """Make clusterIP and clusterIPs agree when the client changes one of them."""
    if old is None:
        if new.get("clusterIP") and not new.get("clusterIPs"):
            new["clusterIPs"] = [new["clusterIP"]]
        return
    had, has = old.get("clusterIP") or "", new.get("clusterIP") or ""
    if old.get("clusterIPs") and not new.get("clusterIPs") and has == had:
        new["clusterIPs"] = list(old["clusterIPs"])
    if has != had and same(new, old, "clusterIPs"):
        if had and not has:
            new.pop("clusterIPs", None)
        else:
            new["clusterIPs"] = [has]


def keep_allocated(new: NewSpec, old: Spec) -> None:
    """Keep the allocated values that the client leaves out. The same request then has the same result twice."""
    if service_types.needs_cluster_ip(old) and service_types.needs_cluster_ip(new):
        for name in ("clusterIP", "clusterIPs"):
            if not new.get(name) and old.get(name):
                new[name] = old[name] if isinstance(old[name], str) else list(old[name])
    if service_types.allocates_node_ports(old) and service_types.allocates_node_ports(new):
        _keep_node_ports(new, old)
    checks_health = service_types.needs_health_check(old) and service_types.needs_health_check(new)
    if checks_health and not new.get("healthCheckNodePort") and old.get("healthCheckNodePort"):
        new["healthCheckNodePort"] = old["healthCheckNodePort"]


def _keep_node_ports(new: NewSpec, old: Spec) -> None:
    used = set(service_types.node_ports(new)) & set(service_types.node_ports(old))
    by_name = {port.get("name", ""): port.get("nodePort") for port in service_types.ports(old)}
    for port in service_types.ports(new):
        before = by_name.get(port.get("name", ""))
        if not port.get("nodePort") and before and before not in used:
            port["nodePort"] = before
