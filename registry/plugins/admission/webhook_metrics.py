"""What is recorded of admission webhooks."""

from collections.abc import Iterable

from aio_apiserver.storage import measures
from aio_apiserver.storage.measures import AnyFamily, Stability

_BOUNDS = (0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25)
_LARGEST_CODE = 600


def code_label(code: int) -> str:
    """A code as a label: programs elsewhere cannot make any number of series."""
    return str(min(code, _LARGEST_CODE))


class WebhookMetrics:
    """By the names of webhooks."""

    def __init__(self) -> None:
        self.durations = measures.histogram(
            "apiserver_admission_webhook_admission_duration_seconds",
            "How long a webhook took, by name, operation, type and whether the write was refused because of it.",
            labels=("name", "operation", "rejected", "type"),
            bounds=_BOUNDS,
            stability=Stability.STABLE,
        )
        self.requests = measures.counter(
            "apiserver_admission_webhook_request_total",
            "Calls of webhooks, by name, code, operation, type and whether the write was refused because of it.",
            labels=("code", "name", "operation", "rejected", "type"),
        )
        self.rejections = measures.counter(
            "apiserver_admission_webhook_rejection_count",
            "Writes that were refused because of a webhook, by name, operation, type, code and what went wrong.",
            labels=("error_type", "name", "operation", "rejection_code", "type"),
        )
        self.failed_open = measures.counter(
            "apiserver_admission_webhook_fail_open_count",
            "Failures of webhooks that were ignored, by name and type.",
            labels=("name", "type"),
        )

    def families(self) -> Iterable[AnyFamily]:
        """Everything that is recorded here."""
        return self.durations, self.requests, self.rejections, self.failed_open
