"""Declarative validation: metrics of validation that kube-apiserver generates from tags in its Go types.

kube-apiserver compares it with validation that people wrote. This server has one validation, so that the counts are 0.
"""

from collections.abc import Iterator

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Stability

_PREFIX = "apiserver_validation_declarative_validation_"


def families() -> Iterator[AnyFamily]:
    """The counts, for dashboards that read them."""
    yield metric_families.counter(
        f"{_PREFIX}mismatch_total",
        "Differences between two validations of an object: 0, because this server has one.",
        stability=Stability.BETA,
    )
    yield metric_families.counter(
        f"{_PREFIX}panic_total",
        "Crashes of the second validation: 0, because this server has one.",
        stability=Stability.BETA,
    )
