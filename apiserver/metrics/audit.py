"""Audit: metrics of auditing: events, their levels, and failures of backends."""

from collections.abc import Iterable

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily
from aio_apiserver.registry.generic.audit.levels import Level


class AuditMetrics:
    """The counts of one server."""

    def __init__(self) -> None:
        self._events = metric_families.counter(
            "apiserver_audit_event_total", "Audit events that were sent to the backends."
        )
        self._errors = metric_families.counter(
            "apiserver_audit_error_total",
            "Audit events that were lost, by the backend that failed.",
            labels=("plugin",),
        )
        self._levels = metric_families.counter(
            "apiserver_audit_level_total", "Requests by the level at which they are audited.", labels=("level",)
        )
        self._rejected = metric_families.counter(
            "apiserver_audit_requests_rejected_total", "Requests that were refused since they could not be audited."
        )

    def families(self) -> Iterable[AnyFamily]:
        """All families of this module."""
        return self._events, self._errors, self._levels, self._rejected

    def sent(self) -> None:
        """An event was handed to the backends."""
        self._events.of().add()

    def failed(self, plugin: str, events: int) -> None:
        """Events were lost."""
        self._errors.of(plugin).add(events)

    def decided(self, level: Level) -> None:
        """The audit level of a request."""
        self._levels.of(level.text).add()

    def rejected(self) -> None:
        """A request was refused because its event could not be recorded."""
        self._rejected.of().add()
