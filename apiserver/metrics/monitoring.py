"""Monitoring: all that one server records, and where it can be seen together."""

from aio_apiserver.apiserver.metrics.access import AccessMetrics
from aio_apiserver.apiserver.metrics.audit import AuditMetrics
from aio_apiserver.apiserver.metrics.health import HealthMetrics
from aio_apiserver.apiserver.metrics.outgoing import OutgoingMetrics
from aio_apiserver.registry.generic.admission.chain import AdmissionMetrics
from aio_apiserver.registry.generic.metric_sets import MetricSet, MetricSets
from aio_apiserver.registry.groups.core.allocation.metrics import AllocationMetrics
from aio_apiserver.registry.plugins.admission.condition_metrics import ConditionMetrics
from aio_apiserver.registry.plugins.admission.webhook_metrics import WebhookMetrics
from aio_apiserver.registry.plugins.podsecurity.metrics import PodSecurityMetrics
from aio_apiserver.storage import measures
from aio_apiserver.storage.factory.measured_origin import Latencies
from aio_apiserver.storage.measures import Measures

_REGISTERED: tuple[type[MetricSet], ...] = (
    AdmissionMetrics,
    WebhookMetrics,
    ConditionMetrics,
    PodSecurityMetrics,
    AllocationMetrics,
)


class Monitoring:
    """Of one server. What depends on its parts is added when they are there."""

    def __init__(self) -> None:
        self.access = AccessMetrics()
        self.audit = AuditMetrics()
        self.latencies = Latencies()
        self.outgoing = OutgoingMetrics()
        self.health = HealthMetrics()
        """Told at a path of their own."""
        self.discoveries = measures.counter(
            "aggregator_discovery_aggregation_count_total", "Times that the document of all groups was made."
        )
        self.registered = MetricSets()
        """Those of the registry: here from the start, whichever plugins are on."""
        for declared in _REGISTERED:
            self.registered.of(declared)
        self.measures = Measures()
        self.measures.ask(lambda: [self.discoveries])
        for recorded in (self.access, self.registered, self.audit, self.latencies, self.outgoing):
            self.measures.ask(recorded.families)
