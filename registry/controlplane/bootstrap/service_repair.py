"""service_repair: makes the repair loop of ClusterIPs and node ports for this server's resources."""

from aio_apiserver.registry.controlplane.assembly import Groups
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.services.allocation.metrics import AllocationMetrics
from aio_apiserver.registry.groups.core.services.allocation.node_ports import RANGES, NodePorts
from aio_apiserver.registry.groups.core.services.allocation.repair import Repair
from aio_apiserver.registry.groups.core.services.service_hooks import cluster_ips
from aio_apiserver.registry.groups.core.services.services import SERVICES
from aio_apiserver.registry.groups.networking.ipaddresses import IPADDRESSES
from aio_apiserver.registry.groups.networking.servicecidrs import SERVICECIDRS


def repair(groups: Groups, given: Foundation) -> Repair:
    """The loop of one server: it remembers the leaks that it has seen."""
    networking = groups[IPADDRESSES.group]["v1"]
    addresses, cidrs = networking[IPADDRESSES.plural], networking[SERVICECIDRS.plural]
    assert isinstance(addresses, Store)
    assert isinstance(cidrs, Store)
    return Repair(
        services=given.storage_for(resource_of(SERVICES)),
        cluster_ips=cluster_ips(given, addresses=addresses, cidrs=cidrs),
        node_ports=NodePorts(
            given.writable_storage_for(RANGES), given.config.service_node_ports, given.metrics.of(AllocationMetrics)
        ),
        clock=given.clock,
    )
