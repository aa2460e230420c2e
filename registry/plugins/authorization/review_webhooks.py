"""Review webhooks: an authorizer and a token authenticator that send reviews to a webhook.

The reviews are SubjectAccessReviews and TokenReviews. It does not know HTTP: `Ask` sends a review and returns the
response. Must hold: responses are cached for a bounded time, and bounded by bytes. When the webhook does not answer,
the configuration decides.
"""

import hashlib
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import orjson
from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.kept_items import KeptByKey
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.access.authentication import Authenticated, BadToken
from aio_apiserver.registry.generic.access.authorizer import NO_OPINION, Attributes, Decision, Rules, Verdict
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.webhook_calls import Ask, WebhookFailed
from aio_apiserver.registry.plugins.authentication import jwts
from aio_apiserver.storage.selection import Operator, Requirement

T = TypeVar("T")

_MOST_REMEMBERED = 8192
_MOST_BYTES = 32 * 1024 * 1024
_BYTES, _OF_JSON = 500, 4
"""The memory of an answer: some bytes, and a multiple of its size as JSON."""
_LONGEST_KEY = 10_000
_OPERATORS = {
    Operator.IN: "In",
    Operator.NOT_IN: "NotIn",
    Operator.EXISTS: "Exists",
    Operator.DOES_NOT_EXIST: "DoesNotExist",
}


class _Memory(Generic[T]):
    """A cache whose entries expire."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers: KeptByKey[Hashable, tuple[float, T]] = KeptByKey(_MOST_BYTES, _MOST_REMEMBERED)

    def get(self, key: Hashable) -> T | None:
        found = self._answers.get(key)
        return found[1] if found is not None and found[0] > self._clock.monotonic() else None

    def put(self, key: Hashable, answer: T, seconds: float, *, size: int) -> None:
        """Keep an answer for some seconds. size: of the answer as JSON, and of its key."""
        if seconds > 0:
            self._answers.put(key, (self._clock.monotonic() + seconds, answer), _BYTES + _OF_JSON * size)


class RemoteSettings(Struct, frozen=True, kw_only=True):
    """The cache times of allowed and denied requests in seconds, and the decision when the webhook fails."""

    version: str = "v1beta1"
    allowed_seconds: float = 300.0
    denied_seconds: float = 30.0
    on_failure: Verdict = Verdict.NO_OPINION


class RemoteAuthorizer:
    """The authorization mode Webhook.

    applies: whether the webhook is asked; raises ValueError when that cannot be decided. failed_open: called when a
    failed call counts as no opinion.
    """

    def __init__(
        self,
        ask: Ask,
        settings: RemoteSettings,
        clock: Clock,
        *,
        applies: Callable[[Object], bool] = lambda _spec: True,
        failed_open: Callable[[], None] = lambda: None,
    ) -> None:
        self._ask = ask
        self._failed_open = failed_open
        self._settings = settings
        self._applies = applies
        self._memory: _Memory[Object] = _Memory(clock)

    async def authorize(self, attributes: Attributes) -> Decision:
        spec = spec_of(attributes)
        try:
            if not self._applies(spec):
                return NO_OPINION
            status = await self._status(spec)
        except ValueError as exc:
            return Decision(self._settings.on_failure, error=str(exc))
        except WebhookFailed as exc:
            if self._settings.on_failure is Verdict.NO_OPINION:
                self._failed_open()
            return Decision(self._settings.on_failure, error=str(exc))
        return _decision(status)

    async def _status(self, spec: Object) -> Object:
        key = orjson.dumps(spec)
        status = self._memory.get(key)
        if status is None:
            api_version = f"authorization.k8s.io/{self._settings.version}"
            sent = spec if self._settings.version == "v1" else _with_group(spec)
            answer = await self._ask({"kind": "SubjectAccessReview", "apiVersion": api_version, "spec": sent})
            status = _status_of(answer)
            if len(key) <= _LONGEST_KEY:
                is_allowed = status.get("allowed") is True
                seconds = self._settings.allowed_seconds if is_allowed else self._settings.denied_seconds
                self._memory.put(key, status, seconds, size=len(key) + len(orjson.dumps(status)))
        return status

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        return Rules(is_incomplete=True, errors=("webhook authorizer does not support user rule resolution",))


def _decision(status: Object) -> Decision:
    reason = str(status.get("reason", ""))
    is_allowed, is_denied = status.get("allowed") is True, status.get("denied") is True
    if is_denied:
        both = "webhook subject access review returned both allow and deny response"
        return Decision(Verdict.DENY, reason, both if is_allowed else "")
    return Decision(Verdict.ALLOW if is_allowed else Verdict.NO_OPINION, reason)


def spec_of(attributes: Attributes) -> Object:
    """The request as the spec of a SubjectAccessReview."""
    user = attributes.user
    spec: Object = {"user": user.name, "uid": user.uid, "groups": list(user.groups)}
    spec["extra"] = {name: list(values) for name, values in user.extra.items()}
    if attributes.is_resource:
        spec["resourceAttributes"] = _resource_attributes(attributes)
    else:
        spec["nonResourceAttributes"] = {"path": attributes.path, "verb": attributes.verb}
    return {name: value for name, value in spec.items() if value}


def _resource_attributes(attributes: Attributes) -> Object:
    review: Object = {
        "namespace": attributes.namespace,
        "verb": attributes.verb,
        "group": attributes.group,
        "version": attributes.version,
        "resource": attributes.resource,
        "subresource": attributes.subresource,
        "name": attributes.name,
    }
    for name, requirements in (
        ("fieldSelector", attributes.selectors.fields),
        ("labelSelector", attributes.selectors.labels),
    ):
        if written := [_requirement(one) for one in requirements if one.operator in _OPERATORS]:
            review[name] = {"requirements": written}
    return {name: value for name, value in review.items() if value}


def _requirement(requirement: Requirement) -> Object:
    written: Object = {"key": requirement.name, "operator": _OPERATORS[requirement.operator]}
    return {**written, "values": sorted(requirement.values)} if requirement.values else written


def _with_group(spec: Object) -> Object:
    """The spec in v1beta1, where `groups` is called `group`."""
    return {("group" if name == "groups" else name): value for name, value in spec.items()}


class _CachedReview(NamedTuple):
    """A cached response. None: the webhook does not know the token."""

    owner: Authenticated | None


class RemoteTokens:
    """Authenticates tokens by TokenReviews of a webhook."""

    def __init__(self, ask: Ask, version: str, own_audiences: Sequence[str], seconds: float, clock: Clock) -> None:
        self._ask = ask
        self._version = version
        self._own_audiences = own_audiences
        self._seconds = seconds
        self._memory: _Memory[_CachedReview] = _Memory(clock)

    async def authenticate(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        key = hashlib.sha256(token.encode(errors="surrogateescape")).digest(), tuple(audiences)
        known = self._memory.get(key)
        if known is None:
            known = _CachedReview(await self._review(token, audiences))
            size = len(msgspec.json.encode([known.owner, key[1]]))
            self._memory.put(key, known, self._seconds, size=size)
        return known.owner

    async def _review(self, token: str, audiences: Collection[str]) -> Authenticated | None:
        review = {
            "kind": "TokenReview",
            "apiVersion": f"authentication.k8s.io/{self._version}",
            "spec": {"token": token, "audiences": list(audiences)},
        }
        try:
            status = _status_of(await self._ask(review))
        except WebhookFailed as exc:
            raise BadToken(str(exc)) from exc
        common = jwts.common(status.get("audiences") or self._own_audiences, audiences)
        if not common:
            return None
        if status.get("authenticated") is not True:
            if error := status.get("error"):
                raise BadToken(str(error))
            return None
        return Authenticated(_user_of(status.get("user")), common)


def _user_of(user: Any) -> UserInfo:
    if not isinstance(user, Mapping) or not user.get("username"):
        raise BadToken("the webhook names no user")
    extra = {str(name): tuple(map(str, values)) for name, values in (user.get("extra") or {}).items()}
    groups = tuple(map(str, user.get("groups") or ()))
    return UserInfo(name=str(user["username"]), uid=str(user.get("uid") or ""), groups=groups, extra=extra)


def _status_of(answer: Object) -> Object:
    status = answer.get("status") or {}
    if not isinstance(status, dict):
        raise WebhookFailed("the webhook's answer cannot be read")
    return status
