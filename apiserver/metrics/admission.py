"""Admission: metrics of the admission chain, of webhooks, match conditions and pod security."""

from collections.abc import Iterator

from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Family, Stability
from aio_apiserver.registry.generic.admission.chain import AdmissionMetrics
from aio_apiserver.registry.plugins.admission.condition_metrics import ConditionMetrics
from aio_apiserver.registry.plugins.admission.webhook_metrics import WebhookMetrics
from aio_apiserver.registry.plugins.podsecurity.metrics import PodSecurityMetrics

_WEBHOOK = "apiserver_admission_webhook_"
_CONDITION = "apiserver_admission_match_condition_"


def of_chain(counted: AdmissionMetrics) -> Iterator[AnyFamily]:
    """The durations of the chain and of each plugin."""
    yield Family(
        "apiserver_admission_controller_admission_duration_seconds",
        "How long an admission plugin took, by name, operation, type and whether it refused.",
        counted.plugins,
        Stability.STABLE,
    )
    yield Family(
        "apiserver_admission_step_admission_duration_seconds",
        "How long all admission plugins together took, by operation, type and whether one of them refused.",
        counted.steps,
        Stability.STABLE,
    )


def of_webhooks(counted: WebhookMetrics) -> Iterator[AnyFamily]:
    """The calls of webhooks, by name."""
    yield Family(
        f"{_WEBHOOK}admission_duration_seconds",
        "How long a webhook took, by name, operation, type and whether the write was refused because of it.",
        counted.durations,
        Stability.STABLE,
    )
    yield Family(
        f"{_WEBHOOK}request_total",
        "Calls of webhooks, by name, code, operation, type and whether the write was refused because of it.",
        counted.requests,
    )
    yield Family(
        f"{_WEBHOOK}rejection_count",
        "Writes that were refused because of a webhook, by name, operation, type, code and type of error.",
        counted.rejections,
    )
    yield Family(
        f"{_WEBHOOK}fail_open_count",
        "Webhook failures that were ignored, by name and type.",
        counted.failed_open,
    )


def of_conditions(counted: ConditionMetrics) -> Iterator[AnyFamily]:
    """The match conditions of webhooks and policies, by name."""
    yield Family(
        f"{_CONDITION}evaluation_errors_total", "Match conditions that could not be evaluated.", counted.errors
    )
    yield Family(
        f"{_CONDITION}exclusions_total",
        "Writes that match conditions kept from a webhook.",
        counted.exclusions,
    )
    yield Family(
        f"{_CONDITION}evaluation_seconds", "Duration of match conditions that did not all hold.", counted.seconds
    )


def of_pod_security(counted: PodSecurityMetrics) -> Iterator[AnyFamily]:
    """The evaluations by pod security standards, and the exempt requests."""
    yield Family(
        "pod_security_evaluations_total",
        "Evaluations of pods, by standard, mode and decision.",
        counted.evaluations,
    )
    yield Family("pod_security_exemptions_total", "Requests that are exempt from pod security.", counted.exemptions)
    yield Family("pod_security_errors_total", "Errors in the evaluation of requests.", counted.errors)
