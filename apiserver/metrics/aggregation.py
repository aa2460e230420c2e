"""Aggregation: metrics of APIServices: whether each is available."""

from collections.abc import Iterable

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily
from aio_apiserver.registry.groups.apiregistration.registrations import Registrations


def families(registrations: Registrations) -> Iterable[AnyFamily]:
    """By the names of APIServices, including those of this server."""
    unavailable = metric_families.gauge(
        "aggregator_unavailable_apiservice", "Whether an APIService is not available.", labels=("name",)
    )
    for name, is_available in registrations.availability.items():
        unavailable.of(name).set(not is_available)
    return (unavailable,)
