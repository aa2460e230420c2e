"""Allocators: allocate cluster IPs and node ports before a service is written, and release them after it.

These are the hooks of the services' Store. Must hold: a failed write releases its new allocations. Addresses and ports
that a write gives up are released after the write.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.base.validation import addresses
from aio_apiserver.registry.base.validation import field as fields
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.groups.core.services.allocation import families, port_plans
from aio_apiserver.registry.groups.core.services.allocation.cluster_ips import AddressError, ClusterIPs, RangeFull
from aio_apiserver.registry.groups.core.services.allocation.node_ports import DryPorts, NodePorts, Ports
from aio_apiserver.registry.groups.core.services.allocation.port_plans import NodePortPlan
from aio_apiserver.registry.groups.core.services.parts import service_changes, service_types
from aio_apiserver.registry.groups.core.services.parts.service_types import Spec
from aio_apiserver.storage.stored_object import StoredObject

logger = logging.getLogger(__name__)

Step = Callable[[], Awaitable[None]]


class ServiceAllocation(Struct):
    """The addresses and ports that one write has allocated, with the steps after its success and after its failure."""

    commits: list[Step] = field(default_factory=list)
    reverts: list[Step] = field(default_factory=list)

    async def commit(self) -> None:
        await _run(self.commits)

    async def revert(self) -> None:
        await _run(self.reverts)


async def _run(steps: Sequence[Step]) -> None:
    """Run every step, also after a failure. The repair releases addresses and ports that a failed step leaves
    allocated.
    """
    for step in steps:
        try:
            await step()
        except errors.StatusError as exc:
            logger.warning("releasing cluster IPs or node ports of a service failed, the repair retries: %s", exc)


class Allocators:
    """The cluster IPs for each IP family of the cluster, the primary one first, and the node ports."""

    def __init__(self, cluster_ips: Mapping[str, ClusterIPs], node_ports: NodePorts) -> None:
        self._cluster_ips = cluster_ips
        self._node_ports = node_ports

    async def begin_create(self, service: Object, is_dry_run: bool) -> ServiceAllocation:
        """Allocate the addresses and ports of a new service. Raises Invalid, InternalError."""
        spec, name = service["spec"], service["metadata"].get("name", "")
        service_changes.settle_cluster_ips(spec)
        families.settle(spec, None, name=name, families=tuple(self._cluster_ips))
        allocation = ServiceAllocation()
        try:
            await self._take_addresses(service, range(2), allocation, is_dry_run=is_dry_run)
            if port_plans.is_needed(spec):
                decide = partial(port_plans.for_new, spec, name=name)
                await self._take_ports(service, decide, allocation, is_dry_run=is_dry_run)
        except BaseException:
            await allocation.revert()
            raise
        return allocation

    async def begin_update(self, service: Object, old: Object, is_dry_run: bool) -> ServiceAllocation:
        """Allocate the addresses and ports that an update adds. Raises Invalid, InternalError."""
        spec, before, name = service["spec"], old["spec"], service["metadata"].get("name", "")
        service_changes.keep_allocated(spec, before)
        service_changes.settle_cluster_ips(spec, before)
        families.settle(spec, before, name=name, families=tuple(self._cluster_ips))
        allocation = ServiceAllocation()
        try:
            await self._change_addresses(service, before, allocation, is_dry_run=is_dry_run)
            if port_plans.is_needed(spec):
                decide = partial(port_plans.for_changed, spec, before, name=name)
                await self._take_ports(service, decide, allocation, is_dry_run=is_dry_run)
        except BaseException:
            await allocation.revert()
            raise
        freed = port_plans.given_up(spec, before)
        if freed and not is_dry_run:
            allocation.commits.append(partial(self._node_ports.free, freed))
        return allocation

    async def release(self, stored: StoredObject) -> None:
        """Release all addresses and ports of a deleted service."""
        spec = stored.decode()["spec"]
        steps = [partial(self._free_address, ip) for ip in _held_addresses(spec)]
        await _run([*steps, partial(self._node_ports.free, port_plans.all_of(spec))])

    async def _change_addresses(
        self, service: Object, before: Spec, allocation: ServiceAllocation, *, is_dry_run: bool
    ) -> None:
        """Allocate or release addresses as the update requires. All of them depend on the type; the second one also on
        the families.
        """
        spec = service["spec"]
        if families.is_unchanged_preference(spec, before):
            return
        if not service_types.needs_cluster_ip(before):
            await self._take_addresses(service, range(2), allocation, is_dry_run=is_dry_run)
            return
        if service_types.is_headless(before):
            return
        has, had = len(service_types.ip_families(spec)), len(service_types.ip_families(before))
        ips = service_types.cluster_ips(before)
        freed: Sequence[str] = ()
        if not service_types.needs_cluster_ip(spec):
            freed = ips[:]
        elif (has, had) == (1, 2):
            freed = ips[1:]
        elif (has, had) == (2, 1):
            await self._take_addresses(service, range(1, 2), allocation, is_dry_run=is_dry_run)
        if not is_dry_run:
            allocation.commits += [partial(self._free_address, ip) for ip in freed]

    async def _take_addresses(
        self, service: Object, places: range, allocation: ServiceAllocation, *, is_dry_run: bool
    ) -> None:
        """Allocate the addresses at the given indexes of clusterIPs, one for each family."""
        spec = service["spec"]
        ips = list(service_types.cluster_ips(spec))
        is_new = places.start == 0
        if not service_types.needs_cluster_ip(spec) or (is_new and service_types.NONE in ips[:1]):
            return
        found = service_types.ip_families(spec)
        # Validation refuses a family that the cluster does not have.
        ips += [""] * (len(found) - len(ips))
        spec["clusterIPs"] = list(ips)
        for place in range(len(found))[places.start : places.stop]:
            if found[place] not in self._cluster_ips:
                continue
            ips[place] = await self._take_address(
                self._cluster_ips[found[place]], ips[place], service, allocation, is_dry_run=is_dry_run
            )
        spec["clusterIPs"] = ips
        if is_new:
            spec["clusterIP"] = ips[0]

    async def _take_address(
        self, stock: ClusterIPs, wanted: str, service: Object, allocation: ServiceAllocation, *, is_dry_run: bool
    ) -> str:
        try:
            if is_dry_run:
                return await stock.show(wanted)
            address = wanted or await stock.take_any(service)
            if wanted:
                await stock.take(wanted, service)
        except AddressError as exc:
            raise _not_allocated(service, wanted, exc) from exc
        allocation.reverts.append(partial(stock.free, address))
        return address

    async def _take_ports(
        self,
        service: Object,
        decide: Callable[[Ports], NodePortPlan],
        allocation: ServiceAllocation,
        *,
        is_dry_run: bool,
    ) -> None:
        if is_dry_run:
            decide(DryPorts(await self._node_ports.present())).apply(service["spec"])
            return
        plan = await self._node_ports.change(decide)
        allocation.reverts.append(partial(self._node_ports.free, plan.taken))
        plan.apply(service["spec"])

    async def _free_address(self, address: str) -> None:
        stock = self._cluster_ips.get(addresses.family_of(address))
        if stock is not None:
            await stock.free(address)


def _held_addresses(spec: Spec) -> Sequence[str]:
    if not service_types.needs_cluster_ip(spec) or service_types.is_headless(spec):
        return ()
    return service_types.cluster_ips(spec)


def _not_allocated(service: Object, wanted: str, cause: AddressError) -> errors.StatusError:
    name = service["metadata"].get("name", "")
    if isinstance(cause, RangeFull):
        return errors.InternalError(f"failed to allocate a serviceIP for Service {quote(name)}: {cause}")
    what = f"failed to allocate IP {wanted}: {cause}" if wanted else f"failed to allocate IP: {cause}"
    shown = service_types.cluster_ips(service["spec"])
    return invalid_of(GroupKind("", "Service"), name, [fields.invalid("spec.clusterIPs", shown, what)])
