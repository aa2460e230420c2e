"""Access: metrics of authentication and authorization: counts, durations and results.

Must hold: user names are not published, since they are many and private. A few well-known names are, and all others
count as one.
"""

from collections.abc import Iterable

from aio_apiserver.apiserver.metrics import metric_families
from aio_apiserver.apiserver.metrics.metric_families import AnyFamily, Family
from aio_apiserver.apiserver.metrics.tokens import TokenMetrics
from aio_apiserver.base.measures import Histogram
from aio_apiserver.registry.generic.access.authentication import Authenticated
from aio_apiserver.registry.generic.access.authorizer import Decision, Verdict
from aio_apiserver.registry.generic.access.users import UserInfo

_BOUNDS = tuple(0.001 * 2**power for power in range(15))
_HOUR, _DAY = 3600, 86400
_EXPIRATIONS = (
    *(0, _HOUR / 2, _HOUR, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR),
    *(_DAY * days for days in (1, 2, 4, 7, 30, 90, 180, 360)),
)
_SERVICE_ACCOUNT = "system:serviceaccount:"
_KNOWN = frozenset({"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"})
_REFUSALS = {Verdict.DENY: "denied", Verdict.NO_OPINION: "no-opinion"}


class AccessMetrics:
    """The counts of one server. Attempts are computed from the durations, so that no request is counted twice."""

    def __init__(self) -> None:
        self._users = metric_families.counter(
            "authenticated_user_requests", "Requests of authenticated users, by name.", labels=("username",)
        )
        self._authentications = metric_families.histogram(
            "authentication_duration_seconds",
            "How long authentication took, by result.",
            labels=("result",),
            bounds=_BOUNDS,
        )
        self._decisions = metric_families.histogram(
            "authorization_duration_seconds",
            "How long authorization took, by result.",
            labels=("result",),
            bounds=_BOUNDS,
        )
        self._certificates = metric_families.histogram(
            "apiserver_client_certificate_expiration_seconds",
            "How long the client certificates of requests are still good.",
            bounds=_EXPIRATIONS,
        )
        self._impersonations = metric_families.histogram(
            "apiserver_impersonation_attempts_duration_seconds",
            "How long it took to decide on an impersonation, by mode and decision.",
            labels=("mode", "decision"),
            bounds=_BOUNDS,
        )
        self._tokens = TokenMetrics()
        self._others = self._users.of("other")
        self._succeeded = self._authentications.of("success")
        self._allowed = self._decisions.of("allowed")

    def families(self) -> Iterable[AnyFamily]:
        """All families of this module."""
        yield from (self._users, self._authentications, self._decisions, self._certificates, self._impersonations)
        yield from self._tokens.families()
        yield _attempts("authentication_attempts", "Attempts to authenticate, by result.", self._authentications)
        yield _attempts("authorization_attempts_total", "Attempts to authorize, by result.", self._decisions)
        yield _attempts(
            "apiserver_impersonation_attempts_total", "Impersonations by mode and decision.", self._impersonations
        )

    def authenticated(self, user: UserInfo, found: Authenticated | None, seconds: float) -> None:
        """An authenticated request. found: the result for its token; None without one."""
        self._succeeded.observe(seconds)
        name = user.name
        if found is not None and name.startswith(_SERVICE_ACCOUNT):
            self._tokens.accepted(found.annotations)
        if name in _KNOWN or "@" in name:
            self._users.of(name if name in _KNOWN else "email_id").add()
        else:
            self._others.value += 1

    def unauthenticated(self, seconds: float, *, is_error: bool) -> None:
        """A request without credentials (a failure), or with invalid ones (an error)."""
        self._authentications.of("error" if is_error else "failure").observe(seconds)

    def certificate_seen(self, seconds: float) -> None:
        """A request with a client certificate that expires in so many seconds."""
        self._certificates.of().observe(seconds)

    def impersonated(self, verb: str, seconds: float) -> None:
        """An allowed impersonation, by the verb that allowed it."""
        self._impersonations.of(verb.partition(":")[2] or "legacy", "allowed").observe(seconds)

    def not_impersonated(self, seconds: float) -> None:
        """A denied impersonation."""
        self._impersonations.of("", "denied").observe(seconds)

    def decided(self, decision: Decision, seconds: float) -> None:
        """A decision of the authorizer."""
        if decision.verdict is Verdict.ALLOW:
            self._allowed.observe(seconds)
        else:
            self._decisions.of("error" if decision.error else _REFUSALS[decision.verdict]).observe(seconds)


def _attempts(name: str, documentation: str, durations: Family[Histogram]) -> AnyFamily:
    attempts = metric_families.counter(name, documentation, labels=durations.labels)
    for values, series in durations.series.items():
        attempts.of(*values).add(series.total)
    return attempts
