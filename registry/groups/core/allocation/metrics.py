"""What is recorded of cluster IPs and node ports: how many are taken, how many are left, and how they were taken.

Must hold: what several servers take together is told by each of them since its last round of repair; in between a
server knows of its own.
"""

from aio_apiserver.storage import measures

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
WANTED, CHOSEN = "static", "dynamic"
"""Whether it was asked for, or anything would do."""


class AllocationMetrics:
    """Of one server."""

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
        """So many addresses of a block are taken."""
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
        """So many node ports are taken."""
        self.ports_taken.of().set(taken)
        self.ports_left.of().set(size - taken)

    def ports_given(self, scope: str, count: int) -> None:
        if count:
            self.ports.of(scope).add(count)

    def port_refused(self, scope: str) -> None:
        self.port_errors.of(scope).add()
