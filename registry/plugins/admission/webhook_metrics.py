"""Webhook metrics: calls, durations, rejections and ignored failures of admission webhooks."""

from aio_apiserver.base import measures

_BOUNDS = (0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25)
_LARGEST_CODE = 600


def code_label(code: int) -> str:
    """A status code as a label. Codes have bounds, so that a webhook cannot create any number of series."""
    return str(max(0, min(code, _LARGEST_CODE)))


class WebhookMetrics:
    """The metrics by the names of webhooks."""

    def __init__(self) -> None:
        self.durations = measures.histograms("name", "operation", "rejected", "type", bounds=_BOUNDS)
        self.requests = measures.counters("code", "name", "operation", "rejected", "type")
        self.rejections = measures.counters("error_type", "name", "operation", "rejection_code", "type")
        self.failed_open = measures.counters("name", "type")
