"""Service CIDRs: makes ranges of cluster IPs ready, and keeps a deleted range while addresses need it."""

from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.garbage_collection import ownership
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller
from aio_apiserver.controllers.runtime.pods import is_ending, seconds
from aio_apiserver.controllers.runtime.resources import IP_ADDRESSES, SERVICE_CIDRS
from aio_apiserver.registry.base import conditions, objects

_FINALIZER = "networking.k8s.io/service-cidr-finalizer"
_GRACE_SECONDS = 10.0
"""The time after a deletion in which servers may still allocate from the range."""
_MANAGED_BY, _ALLOCATOR = "ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"
_READY, _TERMINATING = "Kubernetes Service CIDR is ready", "Terminating"
_NEEDED = "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR"
Network: TypeAlias = IPv4Network | IPv6Network


class ServiceCIDRController(Controller):
    """Writes the condition Ready and the finalizer of ServiceCIDRs."""

    name = "service-cidr-controller"
    account = "service-cidrs-controller"
    component = "service-cidr-controller"

    def begin(self) -> None:
        self._ranges = self.follow(SERVICE_CIDRS, key_of)
        self._ranges.listen(self._may_free_a_range)
        self._addresses = self.follow(IP_ADDRESSES)
        self._addresses.listen(self._may_free_a_range)

    def _may_free_a_range(self, _key: str, _before: Object | None, _after: Object | None) -> None:
        for key, one in self._ranges.items.items():
            if is_ending(one):
                self.queue.add(key)

    async def reconcile(self, key: str) -> float | None:
        one = self._ranges.get(key)
        if one is None:
            return None
        if not is_ending(one):
            await self.client.change(SERVICE_CIDRS, one, _protect)
            await self._report(one, "True", "", _READY)
            return None
        if self._is_needed(one):
            await self._report(one, "False", _TERMINATING, _NEEDED)
            return None
        left = seconds(one["metadata"]["deletionTimestamp"]) + _GRACE_SECONDS - self.desk.clock.now()
        if left > 0:
            return left
        await self.client.change(SERVICE_CIDRS, one, lambda obj: ownership.drop_finalizer(obj, _FINALIZER))
        return None

    async def _report(self, one: Object, value: str, reason: str, message: str) -> None:
        def tell(present: Object) -> bool:
            status = objects.clone(present.get("status") or {})
            conditions.report(status, "Ready", value, now=self.desk.now(), reason=reason, message=message)
            is_news = status != present.get("status")
            present["status"] = status
            return is_news

        await self.client.change(SERVICE_CIDRS.part("status"), one, tell)

    def _is_needed(self, one: Object) -> bool:
        """Whether an address would be in no range without this one."""
        others = [
            network
            for other in self._ranges.items.values()
            if other["metadata"]["uid"] != one["metadata"]["uid"]
            for network in _networks(other)
        ]
        own = [network for network in _networks(one) if not any(_covers(other, network) for other in others)]
        for address in self._addresses.items.values():
            if (address["metadata"].get("labels") or {}).get(_MANAGED_BY) == _ALLOCATOR:
                ip = ip_address(address["metadata"]["name"])
                if any(ip in network for network in own) and not any(ip in network for network in others):
                    return True
        return False


def _protect(present: Object) -> bool:
    finalizers = present["metadata"].get("finalizers") or []
    if is_ending(present) or _FINALIZER in finalizers:
        return False
    present["metadata"]["finalizers"] = [*finalizers, _FINALIZER]
    return True


def _networks(one: Object) -> list[Network]:
    return [ip_network(text) for text in one["spec"]["cidrs"]]


def _covers(other: Network, network: Network) -> bool:
    return (
        other.version == network.version and network.network_address in other and other.prefixlen <= network.prefixlen
    )
