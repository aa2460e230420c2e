"""Metrics: the numbers of used and available cluster IPs and node ports, and of allocations by scope.

Must hold: each round of the repair sets the gauges from the store, with allocations of all servers. Between rounds, a
server counts its own allocations.
"""

from aio_apiserver.base import measures

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
WANTED, CHOSEN = "static", "dynamic"
"""The scope of an allocation: `static` when the client chose the address or port, else `dynamic`."""


class AllocationMetrics:
    """The allocation metrics of one server."""

    def __init__(self) -> None:
        self.taken = measures.gauges("cidr")
        self.left = measures.gauges("cidr")
        self.addresses = measures.counters("cidr", "scope")
        self.address_errors = measures.counters("cidr", "scope")
        self.seconds = measures.histograms("cidr", bounds=_SECONDS)
        self.ports_taken = measures.gauges()
        self.ports_left = measures.gauges()
        self.ports = measures.counters("scope")
        self.port_errors = measures.counters("scope")

    def addresses_counted(self, cidr: str, taken: int, size: int) -> None:
        """Set the gauges of a block: used addresses, and available ones."""
        self.taken.of(cidr).set(taken)
        self.left.of(cidr).set(size - taken)

    def address_taken(self, cidr: str, scope: str) -> None:
        self.addresses.of(cidr, scope).add()
        self.taken.of(cidr).add()
        self.left.of(cidr).add(-1)

    def address_chosen(self, cidr: str, seconds: float) -> None:
        self.seconds.of(cidr).observe(seconds)

    def address_freed(self, cidr: str) -> None:
        self.taken.of(cidr).add(-1)
        self.left.of(cidr).add()

    def address_refused(self, cidr: str, scope: str) -> None:
        self.address_errors.of(cidr, scope).add()

    def ports_counted(self, taken: int, size: int) -> None:
        """Set the gauges of the node ports: used ports, and available ones."""
        self.ports_taken.of().set(taken)
        self.ports_left.of().set(size - taken)

    def ports_given(self, scope: str, count: int) -> None:
        if count:
            self.ports.of(scope).add(count)

    def port_refused(self, scope: str) -> None:
        self.port_errors.of(scope).add()
