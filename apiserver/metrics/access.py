"""What is recorded of authentication and authorization: how often, how long, with what result.

Must hold: names of users are not told, since there may be many and they are nobody's business; a few well-known ones
are, and the rest counts together.
"""

from collections.abc import Iterable

from registry.access.authorizer import Attributes, Authorizer, Decision, Rules, Verdict
from registry.access.users import UserInfo
from storage import measures
from storage.clock import Clock
from storage.measures import AnyFamily

_BOUNDS = tuple(0.001 * 2**power for power in range(15))
_KNOWN = frozenset({"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"})
_RESULTS = {Verdict.ALLOW: "allowed", Verdict.DENY: "denied", Verdict.NO_OPINION: "no-opinion"}
_FAILED = "error"


class AccessMetrics:
    """Of one server."""

    def __init__(self) -> None:
        self._users = measures.counter(
            "authenticated_user_requests", "Requests of authenticated users, by name.", labels=("username",)
        )
        self._attempts = measures.counter(
            "authentication_attempts", "Attempts to authenticate, by result.", labels=("result",)
        )
        self._durations = measures.histogram(
            "authentication_duration_seconds",
            "How long authentication took, by result.",
            labels=("result",),
            bounds=_BOUNDS,
        )
        self._decisions = measures.counter(
            "authorization_attempts_total", "Attempts to authorize, by result.", labels=("result",)
        )
        self._decision_durations = measures.histogram(
            "authorization_duration_seconds",
            "How long authorization took, by result.",
            labels=("result",),
            bounds=_BOUNDS,
        )

    def families(self) -> Iterable[AnyFamily]:
        """Everything that is recorded here."""
        return self._users, self._attempts, self._durations, self._decisions, self._decision_durations

    def authenticated(self, user: UserInfo, seconds: float) -> None:
        """Somebody has said who they are, and it is true."""
        self._users.of(_shown(user.name)).add()
        self._tried("success", seconds)

    def unauthenticated(self, seconds: float, *, is_error: bool) -> None:
        """Somebody has not said who they are, or (an error) something that is not true."""
        self._tried(_FAILED if is_error else "failure", seconds)

    def decided(self, decision: Decision, seconds: float) -> None:
        """An authorizer has answered."""
        result = _FAILED if decision.error else _RESULTS[decision.verdict]
        self._decisions.of(result).add()
        self._decision_durations.of(result).observe(seconds)

    def _tried(self, result: str, seconds: float) -> None:
        self._attempts.of(result).add()
        self._durations.of(result).observe(seconds)


class MeasuredAuthorizer:
    """An Authorizer whose decisions are recorded."""

    def __init__(self, authorizer: Authorizer, metrics: AccessMetrics, clock: Clock) -> None:
        self._authorizer = authorizer
        self._metrics = metrics
        self._clock = clock

    async def authorize(self, attributes: Attributes) -> Decision:
        began = self._clock.monotonic()
        decision = await self._authorizer.authorize(attributes)
        self._metrics.decided(decision, self._clock.monotonic() - began)
        return decision

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        return await self._authorizer.rules_for(user, namespace)


def _shown(name: str) -> str:
    if name in _KNOWN:
        return name
    return "email_id" if "@" in name else "other"
