"""Node ports: which of the range are taken, as one bit each in one object (RangeAllocation) that all servers share.

All ports of one service are taken in one compare-and-set. Must hold: a port is freed only after the write that gives it
up; what goes wrong in between leaves a port taken for nothing, which the repair gives back.
"""

import base64
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from aio_apiserver.registry.base.errors import InternalError, StatusError
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic import interpret
from aio_apiserver.registry.groups.core.allocation import bands
from aio_apiserver.registry.groups.core.allocation.metrics import CHOSEN, WANTED, AllocationMetrics
from aio_apiserver.storage.errors import KeyNotFound
from aio_apiserver.storage.interface import Resource, Storage, Update
from aio_apiserver.storage.stored_object import Object, StoredObject

T = TypeVar("T")

RANGES = Resource(
    group="", resource="ranges", namespaced=False, type_meta={"apiVersion": "v1", "kind": "RangeAllocation"}
)
_KEY = "servicenodeports"
_OPERATION = interpret.Operation(GroupResource("", "servicenodeportallocations"), "update")
_FIRST_DRY_PORT = 32769
"""What a dry run shows where a port would be chosen."""


class PortError(Exception):
    """A port that cannot be had. The text is for clients."""


class Ports(Protocol):
    """What a service takes its ports from."""

    def take(self, port: int) -> None:
        """Take this very port. Raises PortError."""
        ...

    def take_any(self) -> int:
        """Take a free port. Raises PortError."""
        ...


class PortSet:
    """The ports of a range that are taken."""

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
        """Have a port taken that is free."""
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
        """Give ports back; those that are not taken, or of no concern, stay as they are."""
        for port in ports:
            if port in self:
                self._taken &= ~(1 << (port - self._ports.start))

    def taken(self) -> set[int]:
        """All that are taken."""
        return {port for port in self._ports if port in self}

    def tell(self, metrics: AllocationMetrics) -> None:
        """Have it recorded what became of this stock."""
        metrics.ports_counted(self._taken.bit_count(), len(self._ports))
        for scope, count in self._given.items():
            metrics.ports_given(scope, count)

    def tell_refusals(self, metrics: AllocationMetrics) -> None:
        """The same when a write failed for it."""
        for scope in self._refused:
            metrics.port_refused(scope)

    def encoded(self) -> str:
        """The bits, the last port first, in base64."""
        return base64.b64encode(self._taken.to_bytes((self._taken.bit_length() + 7) // 8, "big")).decode()


class DryPorts:
    """Ports for a dry run: it takes none, and shows one that need not be free where a free one would be chosen."""

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
    """The node ports of all services. `ports` is the range that this server gives out."""

    def __init__(self, storage: Storage, ports: range, metrics: AllocationMetrics) -> None:
        self._storage = storage
        self._ports = ports
        self._metrics = metrics

    async def change(self, decide: Callable[[PortSet], T]) -> T:
        """Let `decide` take and free ports: it may be called again, and what it takes last counts."""
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
                stocks[-1].tell_refusals(self._metrics)
            raise
        stocks[-1].tell(self._metrics)
        return results[-1]

    async def present(self) -> PortSet:
        """What is taken now."""
        return self._read(await interpret.interpreted(self._reading(), _OPERATION))

    async def free(self, ports: Iterable[int]) -> None:
        """Give ports back."""
        given_back = list(ports)
        if given_back:
            await self.change(lambda taken: taken.free(given_back))

    async def _reading(self) -> StoredObject | None:
        try:
            return await self._storage.get(_KEY)
        except KeyNotFound:
            return None

    def _read(self, current: StoredObject | None) -> PortSet:
        """The ports of the stored range; those of another range, if the flags have changed, are carried over."""
        if current is None:
            return PortSet(self._ports)
        obj = current.decode()
        stored = _parse_range(obj.get("range", ""))
        bits = int.from_bytes(base64.b64decode(obj.get("data") or ""), "big")
        if stored == self._ports:
            return PortSet(self._ports, bits)
        ports = PortSet(self._ports)
        for port in PortSet(stored, bits).taken() & set(self._ports):
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
