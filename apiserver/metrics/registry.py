"""What is told of the metrics themselves: how many there are, of which stability."""

from collections.abc import Iterable, Sequence

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Stability


def of(families: Sequence[AnyFamily]) -> Iterable[AnyFamily]:
    """How many families there are. None of them is hidden, off or limited: there are no flags for it."""
    registered = metric_families.counter(
        "registered_metrics_total",
        "Metrics by their stability and the release in which they are deprecated.",
        labels=("deprecated_version", "stability_level"),
        stability=Stability.BETA,
    )
    none = [
        metric_families.counter("hidden_metrics_total", "Metrics that are hidden.", stability=Stability.BETA),
        metric_families.counter("disabled_metrics_total", "Metrics that are off.", stability=Stability.BETA),
        metric_families.counter(
            "cardinality_enforcement_unexpected_categorizations_total", "Values of labels that were not expected."
        ),
    ]
    for family in (*families, registered, *none):
        registered.of("", family.stability.value).add()
    return registered, *none
