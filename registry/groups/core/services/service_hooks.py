"""Service hooks: the side effects of writing a service: allocations of addresses and node ports, and deleting its
Endpoints.
"""

import logging
from collections.abc import Mapping

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.users import APISERVER
from aio_apiserver.registry.generic.hooks import Hooks
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.registry.generic.rest import Environment, Foundation, Request
from aio_apiserver.registry.generic.store.provider import HooksFor, open_store
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.services.allocation.allocators import Allocators
from aio_apiserver.registry.groups.core.services.allocation.cluster_ips import ClusterIPs, family_of
from aio_apiserver.registry.groups.core.services.allocation.metrics import AllocationMetrics
from aio_apiserver.registry.groups.core.services.allocation.node_ports import RANGES, NodePorts
from aio_apiserver.registry.groups.core.services.endpoints import ENDPOINTS
from aio_apiserver.storage.stored_object import StoredObject

logger = logging.getLogger(__name__)


def cluster_ips(given: Foundation, *, addresses: Store, cidrs: Store) -> Mapping[str, ClusterIPs]:
    """The allocator of each IP family that the flags configure, the primary family first."""
    families = map(family_of, given.config.service_cluster_ip_ranges)
    return {
        family: ClusterIPs(
            family,
            store=addresses,
            cidrs=cidrs,
            metrics=given.metrics.of(AllocationMetrics),
            patience=given.clock.patience,
        )
        for family in families
    }


def service_hooks(addresses: Kind, cidrs: Kind) -> HooksFor:
    """The hooks for the Store of services. The kinds are IPAddress and ServiceCIDR."""

    def hooks_for(environment: Environment) -> Hooks:
        stores = {"addresses": open_store(addresses, environment), "cidrs": open_store(cidrs, environment)}
        node_ports = NodePorts(
            environment.writable_storage_for(RANGES),
            environment.config.service_node_ports,
            environment.metrics.of(AllocationMetrics),
        )
        stocks = Allocators(cluster_ips(environment, **stores), node_ports)
        endpoints = open_store(ENDPOINTS, environment)

        async def after_delete(stored: StoredObject) -> None:
            await _delete_endpoints(endpoints, stored)
            await stocks.release(stored)

        return Hooks(begin_create=stocks.begin_create, begin_update=stocks.begin_update, after_delete=after_delete)

    return hooks_for


async def _delete_endpoints(endpoints: Store, service: StoredObject) -> None:
    """Delete the Endpoints of a deleted service, so that a later service of the same name does not get them."""
    namespace, _, name = service.key.rpartition("/")
    request = Request(user=APISERVER, version="v1", warn=lambda _warning: None, namespace=namespace)
    try:
        await endpoints.delete(request, name, DeleteOptions())
    except errors.NotFound:
        return
    except errors.StatusError as exc:
        logger.warning("deleting endpoints %s of a deleted service failed: %s", service.key, exc)
