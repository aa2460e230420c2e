"""Repair: makes the allocated cluster IPs and node ports agree with the services, as upstream's repair controllers do.

They differ when a server stops between allocation and write, or when a client deletes an IPAddress.

Must hold: the allocations of a write in progress stay. An address has a grace period; a port is released after several
rounds without a service.
"""

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.base.validation import addresses
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.registry.groups.core.services.allocation import port_plans
from aio_apiserver.registry.groups.core.services.allocation.cluster_ips import AddressError, ClusterIPs
from aio_apiserver.registry.groups.core.services.allocation.node_ports import NodePorts, PortError, PortSet
from aio_apiserver.registry.groups.core.services.parts import service_types
from aio_apiserver.storage.interface import Reader

logger = logging.getLogger(__name__)

INTERVAL_SECONDS = 180.0
_GRACE_SECONDS = 60
_ROUNDS = 3
"""The rounds in a row without a service after which a port is released."""

_SERVICES = GroupResource("", "services")


class Repair:
    """The repair of one server. Several servers may repair at the same time."""

    def __init__(
        self, *, services: Reader, cluster_ips: Mapping[str, ClusterIPs], node_ports: NodePorts, clock: Clock
    ) -> None:
        self._services = Lookup(services, _SERVICES, as_stored)
        self._cluster_ips = cluster_ips
        self._node_ports = node_ports
        self._clock = clock
        self._unheld: Counter[int] = Counter()

    async def run_once(self) -> None:
        """Run one round. Raises StatusError."""
        known = {family: await stock.all() for family, stock in self._cluster_ips.items()}
        services = await self._services.all_newest()
        await self._repair_ports(services)
        for family, stock in self._cluster_ips.items():
            await self._repair_addresses(stock, known[family], services)
            await stock.count(await stock.all())

    async def _repair_ports(self, services: Sequence[Object]) -> None:
        held = {port for service in services for port in port_plans.all_of(service["spec"]) if port}
        unheld = (await self._node_ports.present()).ports() - held
        self._unheld = Counter({port: self._unheld[port] + 1 for port in unheld})
        freed = {port for port, rounds in self._unheld.items() if rounds >= _ROUNDS}

        def mend(taken: PortSet) -> None:
            taken.free(freed)
            _take_missing(taken, held)

        await self._node_ports.change(mend)

    async def _repair_addresses(self, stock: ClusterIPs, known: Sequence[Object], services: Sequence[Object]) -> None:
        present = {one["metadata"]["name"] for one in known}
        holders = dict(_holders(services, stock.family))
        for address, service in holders.items():
            if address not in present:
                await self._register(stock, address, service)
        for one in known:
            if self._is_unheld(one, holders):
                logger.warning("releasing cluster IP %s, which no service uses", one["metadata"]["name"])
                await stock.free(one["metadata"]["name"])

    async def _register(self, stock: ClusterIPs, address: str, service: Object) -> None:
        try:
            await stock.register(address, service)
        except AddressError as exc:
            metadata = service["metadata"]
            logger.warning("cluster IP %s of %s/%s: %s", address, metadata["namespace"], metadata["name"], exc)

    def _is_unheld(self, address: Object, holders: Mapping[str, Object]) -> bool:
        """Whether no service uses the address, and it is too old to belong to a write in progress."""
        created = datetime.fromisoformat(address["metadata"]["creationTimestamp"]).timestamp()
        if self._clock.now() - created <= _GRACE_SECONDS:
            return False
        holder = holders.get(address["metadata"]["name"])
        parent = objects.get(address, "spec.parentRef") or {}
        if holder is None or parent.get("resource") != "services" or parent.get("group"):
            return True
        metadata = holder["metadata"]
        return (parent.get("namespace"), parent.get("name")) != (metadata["namespace"], metadata["name"])


def _take_missing(taken: PortSet, held: Collection[int]) -> None:
    for port in sorted(held):
        try:
            if port not in taken:
                taken.take(port)
        except PortError as exc:
            logger.warning("node port %d of a service: %s", port, exc)


def _holders(services: Sequence[Object], family: str) -> Iterator[tuple[str, Object]]:
    """The addresses of one family, each with the service that uses it."""
    for service in services:
        spec = service["spec"]
        if not service_types.needs_cluster_ip(spec) or service_types.is_headless(spec):
            continue
        for text in service_types.cluster_ips(spec):
            if addresses.family_of(text) == family:
                yield str(addresses.parse(text)), service
