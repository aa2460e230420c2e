"""Custom rules: metrics of the CEL rules of custom resources."""

from collections.abc import Iterator

from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Family, Stability
from aio_apiserver.registry.groups.apiextensions.cel_rules.rule_metrics import RuleMetrics


def families(counted: RuleMetrics) -> Iterator[AnyFamily]:
    """The durations of compilation and evaluation."""
    yield Family(
        "apiserver_cel_compilation_duration_seconds",
        "How long it took to compile all CEL rules of a custom resource's version.",
        counted.compilations,
        Stability.BETA,
    )
    yield Family(
        "apiserver_cel_evaluation_duration_seconds",
        "How long it took to evaluate all CEL rules on a custom resource.",
        counted.evaluations,
        Stability.BETA,
    )
