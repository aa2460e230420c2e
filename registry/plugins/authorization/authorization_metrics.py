"""Authorization metrics: decisions by authorizer, and results and durations of webhook calls."""

from collections.abc import Callable

from aio_apiserver.base import measures
from aio_apiserver.registry.generic.access.authorizer import Authorizer, Link

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

Called = Callable[[str, float], None]
"""Called with the result of a webhook call (success, error, timeout) and its duration."""


class AuthorizationMetrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self.decisions = measures.counters("type", "name", "decision")
        self.evaluations = measures.counters("name", "result")
        self.durations = measures.histograms("name", "result", bounds=_BOUNDS)
        self.fail_opens = measures.counters("name", "result")

    def link(self, authorizer: Authorizer, mode: str, name: str) -> Link:
        """An authorizer whose decisions are counted."""
        allowed, denied = (self.decisions.of(mode, name, decision) for decision in ("allowed", "denied"))
        return Link(authorizer, allowed, denied)

    def webhook(self, name: str) -> "WebhookCalls":
        """The recorder of one webhook."""
        return WebhookCalls(self, name)

    def called(self, name: str, result: str, seconds: float) -> None:
        """Record a call of a webhook."""
        self.evaluations.of(name, result).add()
        self.durations.of(name, result).observe(seconds)

    def failed_open(self, name: str, result: str) -> None:
        """Record that a failed call counts as no opinion."""
        self.fail_opens.of(name, result).add()


class WebhookCalls:
    """Records the calls of one webhook."""

    def __init__(self, metrics: AuthorizationMetrics, name: str) -> None:
        self._metrics = metrics
        self._name = name
        self._last = "error"

    def called_once(self, result: str, seconds: float) -> None:
        """Record the end of a call."""
        self._last = result
        self._metrics.called(self._name, result, seconds)

    def failed_open(self) -> None:
        """Record that the last call failed and counts as no opinion."""
        self._metrics.failed_open(self._name, self._last)
