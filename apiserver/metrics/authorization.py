"""Authorization: metrics of authorizers: their decisions, and the calls of authorization webhooks."""

from collections.abc import Iterator

from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Family
from aio_apiserver.registry.plugins.authorization.authorization_metrics import AuthorizationMetrics

_PREFIX = "apiserver_authorization_"


def families(counted: AuthorizationMetrics) -> Iterator[AnyFamily]:
    """All families of one server."""
    yield Family(
        f"{_PREFIX}decisions_total",
        "Decisions of authorizers, by type, name and decision.",
        counted.decisions,
    )
    yield Family(
        f"{_PREFIX}webhook_evaluations_total",
        "Calls of authorization webhooks, by name and result.",
        counted.evaluations,
    )
    yield Family(
        f"{_PREFIX}webhook_duration_seconds",
        "How long calls of authorization webhooks took, by name and result.",
        counted.durations,
    )
    yield Family(
        f"{_PREFIX}webhook_evaluations_fail_open_total",
        "Requests that were left to other authorizers because a webhook failed, by name and result.",
        counted.fail_opens,
    )
