"""What writing a service does besides: its addresses and ports are taken and given back, its endpoints go with it."""

from registry import errors
from registry.access.users import MASTERS, UserInfo
from registry.core.allocation.allocators import Allocators
from registry.core.allocation.cluster_ips import ClusterIPs, family_of
from registry.core.allocation.node_ports import RANGES, NodePorts
from registry.core.endpoints import ENDPOINTS
from registry.generic.provider import open_store
from registry.generic.store import Hooks, Store
from registry.networking.ipaddresses import IPADDRESSES
from registry.networking.servicecidrs import SERVICECIDRS
from registry.options import DeleteOptions
from registry.rest import Environment, Request
from storage.stored_object import StoredObject

_USER = UserInfo(name="system:apiserver", groups=(MASTERS,))


def allocators(environment: Environment) -> Allocators:
    """The stocks of addresses and ports that all servers on the same store share."""
    addresses, cidrs = open_store(IPADDRESSES, environment), open_store(SERVICECIDRS, environment)
    config = environment.config
    cluster_ips = {
        family: ClusterIPs(family, store=addresses, cidrs=cidrs)
        for family in map(family_of, config.service_cluster_ip_ranges)
    }
    return Allocators(cluster_ips, NodePorts(environment.storage_for(RANGES), config.service_node_ports))


def service_hooks(environment: Environment) -> Hooks:
    """For the Store of services."""
    stocks, endpoints = allocators(environment), open_store(ENDPOINTS, environment)

    async def after_delete(stored: StoredObject) -> None:
        await _delete_endpoints(endpoints, stored)
        await stocks.release(stored)

    return Hooks(begin_create=stocks.begin_create, begin_update=stocks.begin_update, after_delete=after_delete)


async def _delete_endpoints(endpoints: Store, service: StoredObject) -> None:
    """A later service of the same name must not find the endpoints of this one."""
    namespace, _, name = service.key.rpartition("/")
    request = Request(user=_USER, version="v1", warn=lambda _warning: None, namespace=namespace)
    try:
        await endpoints.delete(request, name, DeleteOptions())
    except errors.NotFound:
        return
