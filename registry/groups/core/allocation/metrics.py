"""What is recorded of cluster IPs and node ports: how many are taken, how many are left, and how they were taken.

Must hold: what several servers take together is told by each of them since its last round of repair; in between a
server knows of its own.
"""

from collections.abc import Iterable

from aio_apiserver.storage import measures
from aio_apiserver.storage.measures import AnyFamily

_ADDRESSES, _PORTS = "kube_apiserver_clusterip_allocator_", "kube_apiserver_nodeport_allocator_"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
WANTED, CHOSEN = "static", "dynamic"
"""Whether it was asked for, or anything would do."""


class AllocationMetrics:
    """Of one server."""

    def __init__(self) -> None:
        of_cidr, of_both = ("cidr",), ("cidr", "scope")
        self._taken = measures.gauge(f"{_ADDRESSES}allocated_ips", "Addresses that services have.", labels=of_cidr)
        self._left = measures.gauge(f"{_ADDRESSES}available_ips", "Addresses that are free.", labels=of_cidr)
        self._addresses = measures.counter(
            f"{_ADDRESSES}allocation_total", "Addresses that services were given.", labels=of_both
        )
        self._address_errors = measures.counter(
            f"{_ADDRESSES}allocation_errors_total", "Addresses that services could not be given.", labels=of_both
        )
        self._seconds = measures.histogram(
            f"{_ADDRESSES}allocation_duration_seconds",
            "How long it took to give a service any address.",
            labels=of_cidr,
            bounds=_SECONDS,
        )
        self._ports_taken = measures.gauge(f"{_PORTS}allocated_ports", "Node ports that services have.")
        self._ports_left = measures.gauge(f"{_PORTS}available_ports", "Node ports that are free.")
        self._ports = measures.counter(
            f"{_PORTS}allocation_total", "Node ports that services were given.", labels=("scope",)
        )
        self._port_errors = measures.counter(
            f"{_PORTS}allocation_errors_total", "Node ports that services could not be given.", labels=("scope",)
        )

    def families(self) -> Iterable[AnyFamily]:
        """Everything that is recorded here."""
        yield from (self._taken, self._left, self._addresses, self._address_errors, self._seconds)
        yield from (self._ports_taken, self._ports_left, self._ports, self._port_errors)

    def addresses_counted(self, cidr: str, taken: int, size: int) -> None:
        """So many addresses of a block are taken."""
        self._taken.of(cidr).set(taken)
        self._left.of(cidr).set(size - taken)

    def address_taken(self, cidr: str, scope: str) -> None:
        self._addresses.of(cidr, scope).add()
        self._taken.of(cidr).add()
        self._left.of(cidr).add(-1)

    def address_chosen(self, cidr: str, seconds: float) -> None:
        self._seconds.of(cidr).observe(seconds)

    def address_freed(self, cidr: str) -> None:
        self._taken.of(cidr).add(-1)
        self._left.of(cidr).add()

    def address_refused(self, cidr: str, scope: str) -> None:
        self._address_errors.of(cidr, scope).add()

    def ports_counted(self, taken: int, size: int) -> None:
        """So many node ports are taken."""
        self._ports_taken.of().set(taken)
        self._ports_left.of().set(size - taken)

    def ports_given(self, scope: str, count: int) -> None:
        if count:
            self._ports.of(scope).add(count)

    def port_refused(self, scope: str) -> None:
        self._port_errors.of(scope).add()
