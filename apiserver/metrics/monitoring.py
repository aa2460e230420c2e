"""Monitoring: all that one server records, and where it can be seen together."""

from aio_apiserver.apiserver.metrics.access import AccessMetrics
from aio_apiserver.apiserver.metrics.audit import AuditMetrics
from aio_apiserver.apiserver.metrics.health import HealthMetrics
from aio_apiserver.apiserver.metrics.outgoing import OutgoingMetrics
from aio_apiserver.registry.generic.admission.chain import AdmissionMetrics
from aio_apiserver.registry.groups.core.allocation.metrics import AllocationMetrics
from aio_apiserver.storage import measures
from aio_apiserver.storage.factory.measured_origin import Latencies
from aio_apiserver.storage.measures import Measures


class Monitoring:
    """Of one server. What depends on its parts is added when they are there."""

    def __init__(self) -> None:
        self.access = AccessMetrics()
        self.admission = AdmissionMetrics()
        self.allocation = AllocationMetrics()
        self.audit = AuditMetrics()
        self.latencies = Latencies()
        self.outgoing = OutgoingMetrics()
        self.health = HealthMetrics()
        """Told at a path of their own."""
        self.discoveries = measures.counter(
            "aggregator_discovery_aggregation_count_total", "Times that the document of all groups was made."
        )
        self.measures = Measures()
        self.measures.ask(lambda: [self.discoveries])
        for recorded in (self.access, self.admission, self.allocation, self.audit, self.latencies, self.outgoing):
            self.measures.ask(recorded.families)
