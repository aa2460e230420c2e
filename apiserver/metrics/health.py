"""Health: metrics of health checks: the last result of each, and how often it was made."""

from collections.abc import Iterable

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Stability


class HealthMetrics:
    """The counts of one server."""

    def __init__(self) -> None:
        self._well = metric_families.gauge(
            "kubernetes_healthcheck",
            "Whether a health check was well when it was last asked.",
            labels=("name", "type"),
            stability=Stability.STABLE,
        )
        self._checks = metric_families.counter(
            "kubernetes_healthchecks_total",
            "Results of health checks.",
            labels=("name", "status", "type"),
            stability=Stability.STABLE,
        )

    def families(self) -> Iterable[AnyFamily]:
        """All families of this module."""
        return self._well, self._checks

    def checked(self, name: str, endpoint: str, *, is_well: bool) -> None:
        """A check was made for an endpoint."""
        self._well.of(name, endpoint).set(is_well)
        self._checks.of(name, "success" if is_well else "error", endpoint).add()
