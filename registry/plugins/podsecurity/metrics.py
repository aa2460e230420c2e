"""Metrics: evaluations, exemptions and errors of pod security."""

from aio_apiserver.base import measures
from aio_apiserver.registry.plugins.podsecurity.policies import PRIVILEGED, Standard

_NEWEST_MINOR = 36
_OF_REQUESTS = ("request_operation", "resource", "subresource")

Requested = tuple[str, str, str]
"""Operation, resource (pod, namespace, controller) and subresource of a request."""


class PodSecurityMetrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self.evaluations = measures.counters("decision", "policy_level", "policy_version", "mode", *_OF_REQUESTS)
        self.exemptions = measures.counters(*_OF_REQUESTS)
        self.errors = measures.counters("fatal", *_OF_REQUESTS)
        for operation in ("create", "update"):
            self.evaluations.of("allow", PRIVILEGED, "latest", "enforce", operation, "pod", "")
            for what in ("pod", "controller"):
                self.exemptions.of(operation, what, "")

    def judged(self, standard: Standard, mode: str, requested: Requested, *, is_allowed: bool) -> None:
        """Record the evaluation of a pod."""
        decision = "allow" if is_allowed else "deny"
        self.evaluations.of(decision, standard.level, _version(standard), mode, *requested).add()

    def exempted(self, requested: Requested) -> None:
        """Record an exempt request."""
        self.exemptions.of(*requested).add()

    def failed(self, requested: Requested, *, is_fatal: bool) -> None:
        """Record an error: a missing namespace (`is_fatal`), or labels that cannot be read."""
        self.errors.of("true" if is_fatal else "false", *requested).add()


def _version(standard: Standard) -> str:
    if standard.minor is None or standard.level == PRIVILEGED:
        return "latest"
    return f"v1.{standard.minor}" if standard.minor <= _NEWEST_MINOR else "future"
