"""Provider: TokenReview and SelfSubjectReview of authentication.k8s.io, which identify users."""

from collections.abc import Collection, Mapping
from functools import partial

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.authentication import BadToken, Tokens
from aio_apiserver.registry.generic.access.users import ANONYMOUS, UserInfo
from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.rest import Environment, Request, RESTStorage, timestamp
from aio_apiserver.registry.generic.reviews import ReviewREST, review
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.generic.store.store import Store

GROUP = "authentication.k8s.io"

SELF = review(GROUP, "selfsubjectreviews", "SelfSubjectReview")
TOKEN = review(GROUP, "tokenreviews", "TokenReview")

_NO_TOKEN = "token is required for TokenReview in authentication"  # noqa: S105 - a message


async def _review_self(clock: Clock, request: Request, _obj: Object) -> Object:
    metadata = {"creationTimestamp": timestamp(clock.now())}
    return {"metadata": metadata, "status": {"userInfo": user_info(request.user)}}


def user_info(user: UserInfo) -> Object:
    """A user in the form of reviews."""
    shown = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    extra = {name: list(values) for name, values in user.extra.items()}
    return {name: value for name, value in {**shown, "extra": extra}.items() if value}


def _has_token(_request: Request, obj: Object) -> None:
    if not (obj.get("spec") or {}).get("token"):
        raise errors.BadRequest(_NO_TOKEN)


async def _review_token(tokens: Tokens, _request: Request, obj: Object) -> Object:
    audiences = obj["spec"].get("audiences") or tokens.own_audiences
    token = _as_in_a_header(obj["spec"]["token"])
    if not token:
        return _reviewed(obj, _accepted(ANONYMOUS, audiences) if tokens.allows_anonymous else {})
    try:
        found = await tokens.authenticate(token, audiences)
    except BadToken as exc:
        return _reviewed(obj, {"error": str(exc)})
    return _reviewed(obj, _accepted(found.user, found.audiences))


def _reviewed(obj: Object, found: Object) -> Object:
    """The review with its outcome. What the client sent in other fields of the status stays, as in kube-apiserver."""
    sent = {name: value for name, value in (obj.get("status") or {}).items() if name != "authenticated"}
    return {**obj, "status": {**sent, **found}}


def _as_in_a_header(token: str) -> str:
    """The part of a token that counts in an Authorization header: the text before the first space."""
    return token.rstrip().partition(" ")[0]


def _accepted(user: UserInfo, audiences: Collection[str]) -> Object:
    return {"authenticated": True, "user": user_info(user), "audiences": list(audiences)}


def _reviews(_stores: Mapping[str, Store], given: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
    served = (
        ReviewREST(SELF, given, partial(_review_self, given.clock)),
        ReviewREST(TOKEN, given, partial(_review_token, given.tokens), _has_token),
    )
    return {"v1": {rest.kind.plural: rest for rest in served}}


PROVIDER = KindsProvider(group=APIGroup(name=GROUP, priority=17700), extras=_reviews)
