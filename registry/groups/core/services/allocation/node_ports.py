"""Node ports: the allocated ports of the range, one bit each in a RangeAllocation object that all servers share.

All ports of one service are allocated in one compare-and-set.

Must hold: a port is released after the write that gives it up. A failure in between leaves an unused port allocated,
which the repair releases.
"""

import base64
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import InternalError, StatusError
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic import interpret
from aio_apiserver.registry.groups.core.services.allocation import bands
from aio_apiserver.registry.groups.core.services.allocation.metrics import CHOSEN, WANTED, AllocationMetrics
from aio_apiserver.storage.errors import KeyNotFound
from aio_apiserver.storage.interface import Resource, Storage, Update
from aio_apiserver.storage.stored_object import StoredObject

T = TypeVar("T")

RANGES = Resource(
    group="", resource="ranges", namespaced=False, type_meta={"apiVersion": "v1", "kind": "RangeAllocation"}
)
_KEY = "servicenodeports"
_OPERATION = interpret.StorageCall(GroupResource("", "servicenodeportallocations"), "update")
_FIRST_DRY_PORT = 32769
"""The node port that a dry run shows for dynamic allocation."""


class PortError(Exception):
    """The port cannot be allocated. Clients see the text."""


class Ports(Protocol):
    """A set of ports in which a service allocates its node ports."""

    def take(self, port: int) -> None:
        """Allocate the port that the client requests. Raises PortError."""
        ...

    def take_any(self) -> int:
        """Allocate a free port. Raises PortError."""
        ...


class PortSet:
    """The allocated ports of a range."""

    def __init__(self, ports: range, taken: int = 0) -> None:
        self._ports = ports
        self._taken = taken
        self._given: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()

    def __contains__(self, port: int) -> bool:
        return port in self._ports and bool(self._taken >> (port - self._ports.start) & 1)

    def take(self, port: int) -> None:
        if port not in self._ports:
            self._refused[WANTED] += 1
            valid = f"{self._ports.start}-{self._ports.stop - 1}"
            raise PortError(f"provided port is not in the valid range. The range of valid ports is {valid}")
        if port in self:
            self._refused[WANTED] += 1
            raise PortError("provided port is already allocated")
        self.carry_over(port)
        self._given[WANTED] += 1

    def carry_over(self, port: int) -> None:
        """Mark a port as allocated, without counting it in the metrics."""
        self._taken |= 1 << (port - self._ports.start)

    def take_any(self) -> int:
        size = len(self._ports)
        for place in bands.search_order(size, bands.band_size(size, least=16, most=128, step=32)):
            port = self._ports.start + place
            if port not in self:
                self.carry_over(port)
                self._given[CHOSEN] += 1
                return port
        self._refused[CHOSEN] += 1
        raise PortError("range is full")

    def free(self, ports: Iterable[int]) -> None:
        """Release ports. Ports that are free or out of range are ignored."""
        for port in ports:
            if port in self:
                self._taken &= ~(1 << (port - self._ports.start))

    def ports(self) -> set[int]:
        """All allocated ports."""
        return {port for port in self._ports if port in self}

    def record(self, metrics: AllocationMetrics) -> None:
        """Record the used ports and the allocations of a successful write."""
        metrics.ports_counted(self._taken.bit_count(), len(self._ports))
        for scope, count in self._given.items():
            metrics.ports_given(scope, count)

    def record_refusals(self, metrics: AllocationMetrics) -> None:
        """Record the refused allocations of a failed write."""
        for scope in self._refused:
            metrics.port_refused(scope)

    def encoded(self) -> str:
        """The bits in base64, the last port first."""
        return base64.b64encode(self._taken.to_bytes((self._taken.bit_length() + 7) // 8, "big")).decode()


class DryPorts:
    """Ports for a dry run. It allocates nothing, and shows a port that may be in use where the write would choose
    one.
    """

    def __init__(self, taken: PortSet) -> None:
        self._taken = taken
        self._shown: list[int] = []

    def take(self, port: int) -> None:
        if port in self._taken or port in self._shown:
            raise PortError("provided port is already allocated")
        self._shown.append(port)

    def take_any(self) -> int:
        port = max(self._shown) + 1 if self._shown else _FIRST_DRY_PORT
        self._shown.append(port)
        return port


class NodePorts:
    """The node ports of all services. `ports` is the range from which this server allocates."""

    def __init__(self, storage: Storage, ports: range, metrics: AllocationMetrics) -> None:
        self._storage = storage
        self._ports = ports
        self._metrics = metrics

    async def change(self, decide: Callable[[PortSet], T]) -> T:
        """Let `decide` allocate and release ports in one compare-and-set. After a conflict it is called again; the last
        call counts.
        """
        results: list[T] = []
        stocks: list[PortSet] = []

        async def try_update(current: StoredObject | None) -> Update:
            ports = self._read(current)
            stocks.append(ports)
            results.append(decide(ports))
            return Update(self._written(ports, current))

        updating = self._storage.guaranteed_update(_KEY, try_update, ignore_not_found=True)
        try:
            await interpret.interpreted(updating, _OPERATION)
        except StatusError:
            if stocks:
                stocks[-1].record_refusals(self._metrics)
            raise
        stocks[-1].record(self._metrics)
        return results[-1]

    async def present(self) -> PortSet:
        """The ports that are allocated now."""
        return self._read(await interpret.interpreted(self._reading(), _OPERATION))

    async def free(self, ports: Iterable[int]) -> None:
        """Release ports."""
        given_back = list(ports)
        if given_back:
            await self.change(lambda taken: taken.free(given_back))

    async def _reading(self) -> StoredObject | None:
        try:
            return await self._storage.get(_KEY)
        except KeyNotFound:
            return None

    def _read(self, current: StoredObject | None) -> PortSet:
        """The stored set of ports. When the flag has changed the range, ports that are in both ranges stay
        allocated.
        """
        if current is None:
            return PortSet(self._ports)
        obj = current.decode()
        stored = _parse_range(obj.get("range", ""))
        bits = int.from_bytes(base64.b64decode(obj.get("data") or ""), "big")
        if stored == self._ports:
            return PortSet(self._ports, bits)
        ports = PortSet(self._ports)
        for port in PortSet(stored, bits).ports() & set(self._ports):
            ports.carry_over(port)
        return ports

    def _written(self, ports: PortSet, current: StoredObject | None) -> Object:
        metadata = current.decode()["metadata"] if current is not None else {}
        spec = f"{self._ports.start}-{self._ports.stop - 1}"
        return {"metadata": metadata, "range": spec, "data": ports.encoded()}


def _parse_range(text: str) -> range:
    first, _, last = text.partition("-")
    if not (first.isdigit() and last.isdigit()):
        raise InternalError(f"the stored range of node ports cannot be read: {text}")
    return range(int(first), int(last) + 1)
