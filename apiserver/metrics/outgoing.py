"""Outgoing: metrics of calls to admission and conversion webhooks: counts, durations and sizes, by host."""

from collections.abc import Iterable

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily

_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60)
_BYTES = (64, 256, 512, *(4.0**power for power in range(5, 13)))
_BY_HOST = ("host", "verb")
_METHOD = "POST"
_FAILED = "<error>"
"""The code of a call without a response."""


class OutgoingMetrics:
    """The counts of one server."""

    def __init__(self) -> None:
        self._requests = metric_families.counter(
            "rest_client_requests_total",
            "Requests to others, by code, method and host.",
            labels=("code", "host", "method"),
        )
        self._seconds = metric_families.histogram(
            "rest_client_request_duration_seconds",
            "How long requests to others took, by verb and host.",
            labels=_BY_HOST,
            bounds=_SECONDS,
        )
        self._sent = metric_families.histogram(
            "rest_client_request_size_bytes",
            "Sizes of requests to others, by verb and host.",
            labels=_BY_HOST,
            bounds=_BYTES,
        )
        self._received = metric_families.histogram(
            "rest_client_response_size_bytes",
            "Sizes of the answers of others, by verb and host.",
            labels=_BY_HOST,
            bounds=_BYTES,
        )

    def families(self) -> Iterable[AnyFamily]:
        """All families of this module."""
        return self._requests, self._seconds, self._sent, self._received

    def answered(self, host: str, code: int, seconds: float, *, sent: int, received: int) -> None:
        """A call with a response."""
        self._posted(host, str(code), seconds, sent=sent)
        self._received.of(host, _METHOD).observe(received)

    def failed(self, host: str, seconds: float, *, sent: int) -> None:
        """A call without a response."""
        self._posted(host, _FAILED, seconds, sent=sent)

    def _posted(self, host: str, code: str, seconds: float, *, sent: int) -> None:
        self._requests.of(code, host, _METHOD).add()
        self._seconds.of(host, _METHOD).observe(seconds)
        self._sent.of(host, _METHOD).observe(sent)
