"""Allocation: metrics of cluster IPs and node ports: the numbers of used and free ones."""

from collections.abc import Iterator

from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Family
from aio_apiserver.registry.groups.core.services.allocation.metrics import AllocationMetrics

_ADDRESSES, _PORTS = "kube_apiserver_clusterip_allocator_", "kube_apiserver_nodeport_allocator_"


def families(counted: AllocationMetrics) -> Iterator[AnyFamily]:
    """All families of one server."""
    yield Family(f"{_ADDRESSES}allocated_ips", "Addresses that services have.", counted.taken)
    yield Family(f"{_ADDRESSES}available_ips", "Addresses that are free.", counted.left)
    yield Family(f"{_ADDRESSES}allocation_total", "Addresses that services were given.", counted.addresses)
    yield Family(
        f"{_ADDRESSES}allocation_errors_total", "Addresses that services could not be given.", counted.address_errors
    )
    yield Family(
        f"{_ADDRESSES}allocation_duration_seconds",
        "How long it took to give a service any address.",
        counted.seconds,
    )
    yield Family(f"{_PORTS}allocated_ports", "Node ports that services have.", counted.ports_taken)
    yield Family(f"{_PORTS}available_ports", "Node ports that are free.", counted.ports_left)
    yield Family(f"{_PORTS}allocation_total", "Node ports that services were given.", counted.ports)
    yield Family(
        f"{_PORTS}allocation_errors_total", "Node ports that services could not be given.", counted.port_errors
    )
