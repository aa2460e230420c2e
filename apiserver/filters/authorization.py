"""Authorization: whether the user of a request may do what it asks for.

An Authorizer decides; here its refusals become kube-apiserver's 403s. Must hold: no answer of the server's state is
given before an Authorizer has said yes.
"""

from collections.abc import Callable, Sequence

from aiohttp import web

from apiserver import responses
from apiserver.context import Handler, RequestContext
from apiserver.request_info import RequestInfo
from registry import errors
from registry.access.users import ALL_AUTHENTICATED, MASTERS, UserInfo
from registry.names import GroupResource
from registry.quoting import quote

Authorizer = Callable[[UserInfo, RequestInfo], bool]
"""Whether a user may do something."""

PUBLIC_PATHS = frozenset({"/healthz", "/livez", "/readyz", "/version", "/version/"})
_SAFE_IN_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def with_authorization(handler: Handler, authorizers: Sequence[Authorizer]) -> Handler:
    """Answer 403 unless one of the authorizers says yes."""

    async def authorized(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        user, info = context.user, context.info
        for may in authorizers:
            if may(user, info):
                return await handler(request, context)
        response = responses.error(request, context, _forbidden(user, info))
        response.headers[responses.NOSNIFF] = "nosniff"
        return response

    return authorized


def is_master(user: UserInfo, _info: RequestInfo) -> bool:
    """Members of system:masters may do everything, whatever the modes."""
    return MASTERS in user.groups


def is_anyone(_user: UserInfo, _info: RequestInfo) -> bool:
    """Mode AlwaysAllow."""
    return True


def is_known_or_public(user: UserInfo, info: RequestInfo) -> bool:
    """Whoever has proved who they are may do everything, anybody else may read health and version."""
    if ALL_AUTHENTICATED in user.groups:
        return True
    return not info.is_resource and info.verb == "get" and info.path in PUBLIC_PATHS


def authorizers_of(modes: Sequence[str]) -> list[Authorizer]:
    """What --authorization-mode asks for; AlwaysDeny adds nobody."""
    chosen: list[Authorizer] = [is_master]
    if "AlwaysAllow" in modes:
        chosen.append(is_anyone)
    elif set(modes) - {"AlwaysDeny"}:
        chosen.append(is_known_or_public)
    return chosen


def _forbidden(user: UserInfo, info: RequestInfo) -> errors.Forbidden:
    why = _refusal(user, info).translate(_SAFE_IN_HTML)
    resource = GroupResource(info.group, info.resource) if info.is_resource else None
    return errors.Forbidden(resource, info.name, why=why)


def _refusal(user: UserInfo, info: RequestInfo) -> str:
    who = f"User {quote(user.name)} cannot {info.verb}"
    if not info.is_resource:
        return f"{who} path {quote(info.path)}"
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    what = f"{who} resource {quote(resource)} in API group {quote(info.group)}"
    return f"{what} in the namespace {quote(info.namespace)}" if info.namespace else f"{what} at the cluster scope"
