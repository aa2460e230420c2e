"""Metrics of the registry: one set of each class for a server."""

from aio_apiserver.registry.generic.metric_sets import MetricSets
from aio_apiserver.registry.plugins.admission.webhook_metrics import WebhookMetrics


def test_all_that_ask_for_a_class_get_one_set() -> None:
    sets = MetricSets()

    assert sets.of(WebhookMetrics) is sets.of(WebhookMetrics)
    assert MetricSets().of(WebhookMetrics) is not sets.of(WebhookMetrics)
