"""Registry: metrics of the metrics: the number of families by stability."""

from collections.abc import Iterable, Sequence

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Stability


def of(families: Sequence[AnyFamily]) -> Iterable[AnyFamily]:
    """The number of families. None is hidden or disabled, because this server has no flags for that."""
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
