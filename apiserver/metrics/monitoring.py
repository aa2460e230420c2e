"""Monitoring: all that one server records, and where it can be seen together."""

from apiserver.metrics.access import AccessMetrics
from apiserver.metrics.audit import AuditMetrics
from apiserver.metrics.health import HealthMetrics
from registry.admission.chain import AdmissionMetrics
from registry.core.allocation.metrics import AllocationMetrics
from storage.measured_origin import Latencies
from storage.measures import Measures


class Monitoring:
    """Of one server. What depends on its parts is added when they are there."""

    def __init__(self) -> None:
        self.access = AccessMetrics()
        self.admission = AdmissionMetrics()
        self.allocation = AllocationMetrics()
        self.audit = AuditMetrics()
        self.latencies = Latencies()
        self.health = HealthMetrics()
        """Told at a path of their own."""
        self.measures = Measures()
        for recorded in (self.access, self.admission, self.allocation, self.audit, self.latencies):
            self.measures.ask(recorded.families)
