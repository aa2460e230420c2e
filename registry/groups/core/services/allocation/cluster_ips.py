"""Cluster IPs: allocates the addresses of services, each of them an IPAddress object that names its service.

The address blocks come from all ready ServiceCIDR objects. Must hold: creating the object allocates the address, and
that succeeds once. The cached read skips addresses that are probably in use.
"""

import logging
from collections.abc import Iterator, Sequence
from ipaddress import IPv6Address, ip_address, ip_network
from typing import NamedTuple

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.registry.base import conditions, errors, objects
from aio_apiserver.registry.base.validation import addresses
from aio_apiserver.registry.base.validation.addresses import Address, Network
from aio_apiserver.registry.generic.access.users import APISERVER
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.core.services.allocation import bands
from aio_apiserver.registry.groups.core.services.allocation.metrics import CHOSEN, WANTED, AllocationMetrics
from aio_apiserver.storage.interface import ListOptions
from aio_apiserver.storage.stored_object import StoredObject

logger = logging.getLogger(__name__)

FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family"
MANAGER_LABEL = "ipaddress.kubernetes.io/managed-by"
MANAGER = "ipallocator.k8s.io"


class AddressError(Exception):
    """The address cannot be allocated. Clients see the text."""


class RangeFull(AddressError):
    """No address of the range is free."""

    def __init__(self) -> None:
        super().__init__("range is full")


class _Blocks(NamedTuple):
    """The blocks of one ServiceCIDR, and its creation time."""

    networks: Sequence[Network]
    since: str


class ClusterIPs:
    """The addresses of one family. `store` keeps IPAddress objects, and `cidrs` keeps ServiceCIDR objects."""

    def __init__(self, family: str, *, store: Store, cidrs: Store, metrics: AllocationMetrics, patience: Clock) -> None:
        self.family = family
        self._store = store
        self._cidrs = cidrs
        self._metrics = metrics
        self._patience = patience
        self._read: dict[str, tuple[int, _Blocks]] = {}

    async def take(self, text: str, service: Object) -> None:
        """Allocate the address that the client requests for a service. Raises AddressError."""
        address = addresses.parse(text)
        network = _network_of(await self._networks(), address)
        network = network or _network_of(await self._networks(resource_version=None), address)
        if network is None:
            raise AddressError("the provided network does not match the current range")
        try:
            await self.register(str(address), service)
        except AddressError:
            self._metrics.address_refused(str(network), WANTED)
            raise
        self._metrics.address_taken(str(network), WANTED)

    async def take_any(self, service: Object) -> str:
        """Allocate a free address for a service. Raises AddressError."""
        began = self._patience.monotonic()
        for network in await self._networks():
            async for address in in_turns(_search(network)):
                if await self._may_be_free(address) and await self._register_if_free(address, service):
                    self._metrics.address_taken(str(network), CHOSEN)
                    self._metrics.address_chosen(str(network), self._patience.monotonic() - began)
                    return address
            self._metrics.address_refused(str(network), CHOSEN)
        raise RangeFull

    async def show(self, text: str) -> str:
        """The address that a dry run returns: the requested one, or the first of the block, free or not. Raises
        AddressError.
        """
        network = next(iter(await self._networks()), None)
        if network is None:
            raise AddressError("allocator not ready")
        if text and not _is_inside(network, addresses.parse(text)):
            why = f"the provided IP ({addresses.parse(text)}) is not in the valid range"
            raise AddressError(f"{why}. The range of valid IPs is {network}")
        return text or str(network.network_address)

    async def free(self, text: str) -> None:
        """Release an address. The repair releases it again when that fails."""
        try:
            await self._store.delete(self._request, str(addresses.parse(text)), DeleteOptions())
        except errors.NotFound:
            return
        except errors.StatusError as exc:
            logger.warning("releasing cluster IP %s failed, the repair retries: %s", text, exc)
            return
        network = _network_of(await self._networks(), addresses.parse(text))
        if network is not None:
            self._metrics.address_freed(str(network))

    async def count(self, taken: Sequence[Object]) -> None:
        """Set the gauges of used and available addresses. `taken` are all IPAddress objects of the family."""
        held = [addresses.parse(one["metadata"]["name"]) for one in taken]
        for network in await self._networks():
            first, last = _bounds(network)
            self._metrics.addresses_counted(
                str(network), sum(_is_inside(network, one) for one in held), last - first + 1
            )

    async def all(self) -> Sequence[Object]:
        """All IPAddress objects of this family that the allocator manages."""
        wanted = {FAMILY_LABEL: self.family, MANAGER_LABEL: MANAGER}
        items = (await self._store.list(self._request, ListOptions())).items
        return [item.decode() for item in items if wanted.items() <= dict(item.labels).items()]

    async def register(self, address: str, service: Object) -> None:
        """Create the IPAddress object that gives the address to the service. Raises AddressError."""
        metadata = service["metadata"]
        named = {part: metadata[part] for part in ("namespace", "name") if part in metadata}
        parent = {"resource": "services", **named}
        labels = {FAMILY_LABEL: self.family, MANAGER_LABEL: MANAGER}
        obj = {"metadata": {"name": address, "labels": labels}, "spec": {"parentRef": parent}}
        try:
            await self._store.create(self._request, obj, CreateOptions())
        except errors.AlreadyExists:
            raise AddressError("provided IP is already allocated") from None
        except errors.Invalid as exc:
            raise AddressError(exc.message) from exc

    @property
    def _request(self) -> Request:
        return Request(user=APISERVER, version=self._store.kind.hub_version, warn=lambda _warning: None)

    async def _register_if_free(self, address: str, service: Object) -> bool:
        try:
            await self.register(address, service)
        except AddressError as exc:
            if exc.__cause__ is not None:
                raise
            return False
        return True

    async def _may_be_free(self, address: str) -> bool:
        try:
            await self._store.get(self._request, address, resource_version=0)
        except errors.NotFound:
            return True
        return False

    async def _networks(self, *, resource_version: int | None = 0) -> Sequence[Network]:
        """The blocks of this family in use, without repetitions, the oldest ServiceCIDR first."""
        items = (await self._cidrs.list(self._request, ListOptions(resource_version=resource_version))).items
        if len(self._read) > 2 * len(items):
            self._read.clear()
        found = sorted((self._networks_of(item) for item in items), key=lambda one: one.since)
        return list(dict.fromkeys(network for one in found for network in one.networks))

    def _networks_of(self, stored: StoredObject) -> _Blocks:
        """The blocks of one ServiceCIDR. They are remembered by revision, since every new service needs them."""
        known = self._read.get(stored.key)
        if known is not None and known[0] == stored.revision:
            return known[1]
        obj = stored.decode()
        blocks = objects.get(obj, "spec.cidrs") or () if _is_ready(obj) else ()
        networks = [ip_network(block) for block in blocks if family_of(ip_network(block)) == self.family]
        read = _Blocks(networks, obj["metadata"].get("creationTimestamp") or "")
        self._read[stored.key] = (stored.revision, read)
        return read


def _is_ready(service_cidr: Object) -> bool:
    """Whether the ServiceCIDR is not being deleted and its condition Ready is not false."""
    ready = conditions.find(service_cidr.get("status") or {}, "Ready")
    is_ending = service_cidr["metadata"].get("deletionTimestamp")
    return not is_ending and (ready is None or ready.get("status") == "True")


def _bounds(network: Network) -> tuple[int, int]:
    """The first and the last address for services. The network address and IPv4's broadcast address are not among
    them.
    """
    last = int(network.broadcast_address)
    return int(network.network_address) + 1, last - 1 if network.version == 4 else last


def _network_of(networks: Sequence[Network], address: Address | None) -> Network | None:
    return next((network for network in networks if _is_inside(network, address)), None)


def _is_inside(network: Network, address: Address | None) -> bool:
    first, last = _bounds(network)
    return address is not None and address.version == network.version and first <= int(address) <= last


def _search(network: Network) -> Iterator[str]:
    """The addresses of a block, in the order in which dynamic allocation tries them."""
    first, last = _bounds(network)
    size = last - first + 1
    band = bands.band_size(network.num_addresses, least=16, most=256, step=16)
    for place in bands.search_order(size, band):
        yield str(ip_address(first + place) if network.version == 4 else IPv6Address(first + place))


def family_of(network: Network) -> str:
    """The IP family of a block: IPv4 or IPv6."""
    return f"IPv{network.version}"
