"""Monitoring: all metrics of one server, published at /metrics."""

from aio_apiserver.apiserver.metrics import (
    admission,
    allocation,
    custom_rules,
    declarative_validation,
    metric_families,
    metric_history,
    storage,
)
from aio_apiserver.apiserver.metrics.access import AccessMetrics
from aio_apiserver.apiserver.metrics.audit import AuditMetrics
from aio_apiserver.apiserver.metrics.health import HealthMetrics
from aio_apiserver.apiserver.metrics.metric_families import Measures
from aio_apiserver.apiserver.metrics.outgoing import OutgoingMetrics
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.generic.admission.chain import AdmissionMetrics
from aio_apiserver.registry.generic.metric_sets import MetricSets
from aio_apiserver.registry.groups.apiextensions.cel_rules.rule_metrics import RuleMetrics
from aio_apiserver.registry.groups.core.services.allocation.metrics import AllocationMetrics
from aio_apiserver.registry.plugins.admission.condition_metrics import ConditionMetrics
from aio_apiserver.registry.plugins.admission.webhook_metrics import WebhookMetrics
from aio_apiserver.registry.plugins.podsecurity.metrics import PodSecurityMetrics
from aio_apiserver.storage.factory.measured_origin import Latencies


class Monitoring:
    """The metrics of one server, as its minor has them. Modules that are built later add theirs."""

    def __init__(self, minor: Minor) -> None:
        self.access = AccessMetrics()
        self.audit = AuditMetrics()
        self.latencies = Latencies()
        self.outgoing = OutgoingMetrics()
        self.health = HealthMetrics()
        """Published at /metrics/slis."""
        self.discoveries = metric_families.counter(
            "aggregator_discovery_aggregation_count_total", "Times that the document of all groups was made."
        )
        self.registered = MetricSets()
        """The counts of the registry, which exist whether their plugins are enabled or not."""
        self.measures = Measures(metric_history.view_of(minor.version))
        self.measures.ask(lambda: [self.discoveries])
        for recorded in (self.access, self.audit, self.outgoing):
            self.measures.ask(recorded.families)
        self.measures.ask(lambda: storage.of_requests(self.latencies))
        self._publish_registered()

    def _publish_registered(self) -> None:
        ask, of = self.measures.ask, self.registered.of
        ask(lambda: admission.of_chain(of(AdmissionMetrics)))
        ask(lambda: admission.of_webhooks(of(WebhookMetrics)))
        ask(lambda: admission.of_conditions(of(ConditionMetrics)))
        ask(lambda: admission.of_pod_security(of(PodSecurityMetrics)))
        ask(lambda: allocation.families(of(AllocationMetrics)))
        ask(lambda: custom_rules.families(of(RuleMetrics)))
        ask(declarative_validation.families)
