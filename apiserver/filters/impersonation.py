"""Impersonation: runs a request as the user that the Impersonate headers name, when the client may impersonate that
user.

    Impersonate-User: jane    Impersonate-Group: devs    Impersonate-Uid: 7    Impersonate-Extra-scopes: view

Must hold: the client is authenticated first, and needs a permission for each name, group, uid and extra. Inner filters
and handlers do not read these headers.
"""

import html
from collections.abc import Awaitable
from urllib.parse import unquote

from aiohttp import web
from msgspec.structs import replace

from aio_apiserver.apiserver.access.attributes import attributes_of
from aio_apiserver.apiserver.metrics.access import AccessMetrics
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.base import tracing
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tracing import TraceLayer
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access.impersonation import Impersonator
from aio_apiserver.registry.generic.access.users import UserInfo

_USER = "Impersonate-User"
_UID = "Impersonate-Uid"
_GROUP = "Impersonate-Group"
_EXTRA = "impersonate-extra-"


def with_impersonation(
    handler: Handler, *, impersonator: Impersonator, metrics: AccessMetrics, clock: Clock
) -> Handler:
    """Continue as the impersonated user, or answer 400 or 403."""

    def impersonating(request: web.BaseRequest, context: RequestContext) -> Awaitable[web.StreamResponse]:
        return _as_wanted(request, context) if context.head.is_impersonating else handler(request, context)

    async def _as_wanted(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        try:
            wanted = _requested_user(request, impersonator)
        except errors.BadRequest as mistake:
            if not impersonator.fails_nameless:
                return _refused(request, context, mistake)
            why = f"Internal Server Error: {quote(request.raw_path)}: {mistake.message}\n"
            return responses.text(context, html.escape(why, quote=False), status=500)
        if wanted is None:
            return await handler(request, context)
        attributes, began = attributes_of(context.user, context.info, context.query), clock.monotonic()
        try:
            with tracing.timed(TraceLayer.IMPERSONATION):
                found = await impersonator.impersonate(wanted, attributes)
        except errors.Forbidden as refusal:
            metrics.not_impersonated(clock.monotonic() - began)
            return _refused(request, context, refusal)
        metrics.impersonated(found.constraint, clock.monotonic() - began)
        if context.trail is not None:
            context.trail.impersonated = found
        if context.log_fields is not None:
            context.log_fields["addedInfo"] = f"{_named(context.user)} is impersonating {_named(found.user)}"
        return await handler(request, replace(context, user=found.user))

    return impersonating


def _named(user: UserInfo) -> str:
    """A user in logs."""
    return f"{user.name}[{','.join(user.groups)}]" if user.groups else user.name


def _refused(request: web.BaseRequest, context: RequestContext, why: errors.StatusError) -> web.Response:
    response = responses.error(request, context, why)
    response.headers[responses.NOSNIFF] = "nosniff"
    return response


def _requested_user(request: web.BaseRequest, impersonator: Impersonator) -> UserInfo | None:
    """The user that the headers name; None without one. Raises BadRequest for groups, uid or extras without a name."""
    headers = request.headers
    groups = tuple(headers.getall(_GROUP, ()))
    extra: dict[str, list[str]] = {}
    for name, value in headers.items():
        lower = name.lower()
        if lower.startswith(_EXTRA):
            extra.setdefault(unquote(lower.removeprefix(_EXTRA)), []).append(value)
    wanted = UserInfo(name=headers.get(_USER, ""), uid=headers.get(_UID, ""), groups=groups, extra=extra)
    if wanted.name:
        return wanted
    if wanted.uid or groups or extra:
        raise errors.BadRequest(impersonator.nameless(wanted))
    return None
