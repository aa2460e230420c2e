"""What is recorded of authorizers: who has decided what, and how webhooks have answered."""

from collections.abc import Callable, Iterable

from aio_apiserver.registry.generic.access.authorizer import Authorizer, Link
from aio_apiserver.storage import measures
from aio_apiserver.storage.measures import AnyFamily

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

Told = Callable[[str, float], None]
"""Gets the result of a call (success, error, timeout) and how long it took."""


class AuthorizationMetrics:
    """Of one server."""

    def __init__(self) -> None:
        self._decisions = measures.counter(
            "apiserver_authorization_decisions_total",
            "Decisions by authorizer, its type and name, and what was decided.",
            labels=("type", "name", "decision"),
        )
        self._evaluations = measures.counter(
            "apiserver_authorization_webhook_evaluations_total",
            "Calls of authorization webhooks, by name and result.",
            labels=("name", "result"),
        )
        self._durations = measures.histogram(
            "apiserver_authorization_webhook_duration_seconds",
            "How long calls of authorization webhooks took, by name and result.",
            labels=("name", "result"),
            bounds=_BOUNDS,
        )
        self._failed_open = measures.counter(
            "apiserver_authorization_webhook_evaluations_fail_open_total",
            "Questions that were left to other authorizers because a webhook failed, by name and result.",
            labels=("name", "result"),
        )

    def families(self) -> Iterable[AnyFamily]:
        """Everything that is recorded here."""
        return self._decisions, self._evaluations, self._durations, self._failed_open

    def link(self, authorizer: Authorizer, mode: str, name: str) -> Link:
        """An authorizer whose decisions are counted."""
        return Link(authorizer, *(self._decisions.of(mode, name, decision) for decision in ("allowed", "denied")))

    def webhook(self, name: str) -> "WebhookCalls":
        """What is recorded of a webhook."""
        return WebhookCalls(self, name)

    def called(self, name: str, result: str, seconds: float) -> None:
        """A webhook was called."""
        self._evaluations.of(name, result).add()
        self._durations.of(name, result).observe(seconds)

    def failed_open(self, name: str, result: str) -> None:
        """A webhook has failed, and that counts as no opinion."""
        self._failed_open.of(name, result).add()


class WebhookCalls:
    """The calls of one webhook."""

    def __init__(self, metrics: AuthorizationMetrics, name: str) -> None:
        self._metrics = metrics
        self._name = name
        self._last = "error"

    def told(self, result: str, seconds: float) -> None:
        """One is over."""
        self._last = result
        self._metrics.called(self._name, result, seconds)

    def failed_open(self) -> None:
        """The last one has failed, and that counts as no opinion."""
        self._metrics.failed_open(self._name, self._last)
