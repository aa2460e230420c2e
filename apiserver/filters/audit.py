"""Audit: records requests as audit events, at the stages of audit.k8s.io, from the time that the user is known.

There are two filters. The one outside of authentication records requests that authentication refuses; the one inside
records all others. Without an audit policy neither is in the chain.

Must hold: a recorded request gets its last event when its handler ends, also when the handler fails.
"""

import asyncio
from http import HTTPStatus

from aiohttp import hdrs, web
from msgspec.structs import replace

from aio_apiserver.apiserver.auditing.auditor import Auditor
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.connections import HTTPConnection
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.audit.levels import Stage
from aio_apiserver.registry.generic.audit.trail import Trail

_UNKNOWN = UserInfo(name="")
_CLOSED_EARLY = {"status": "Success", "message": "Connection closed early", "code": 200}


def with_failed_authentication(handler: Handler, *, auditor: Auditor) -> Handler:
    """Record requests that authentication refuses. In its handler, authentication alone raises Unauthorized."""

    async def recorded(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        try:
            return await handler(request, context)
        except errors.Unauthorized as failure:
            trail = auditor.begin(request, context, _UNKNOWN)
            if trail is not None:
                trail.status = {"message": _attempted(request), "code": failure.code}
                trail.answered(failure.status())
                await trail.reach(Stage.RESPONSE_STARTED)
            raise

    return recorded


def with_audit(handler: Handler, *, auditor: Auditor) -> Handler:
    """Record requests, as the audit policy says."""

    async def audited(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        trail = auditor.begin(request, context, context.user)
        if trail is None:
            return await handler(request, context)
        if not await trail.reach(Stage.REQUEST_RECEIVED):
            auditor.metrics.rejected()
            why = f"Internal Server Error: {quote(request.raw_path)}: failed to store audit event\n"
            return responses.text(context, why, status=500)
        try:
            response = await handler(request, replace(context, trail=trail))
        except BaseException as failure:
            await _failed(trail, failure, context, auditor)
            raise
        await trail.started(response.status)
        trail.coded(response.status)
        await trail.reach(trail.last_stage)
        return response

    return audited


async def _failed(trail: Trail, failure: BaseException, context: RequestContext, auditor: Auditor) -> None:
    """Record the end of a request without a response. An outer filter answers the failure, if the client is still
    connected.
    """
    if isinstance(failure, asyncio.CancelledError) and 0 < context.deadline <= auditor.clock.patience.monotonic():
        failure = errors.Timeout("request did not complete within the allotted timeout")
    if isinstance(failure, errors.StatusError):
        trail.failed(failure.status())
        await trail.started(failure.code)
    elif isinstance(failure, asyncio.CancelledError | ConnectionError):
        if trail.status is None:
            trail.status = dict(_CLOSED_EARLY)
            await trail.started(HTTPStatus.OK)
    else:
        trail.failed(errors.InternalError("APIServer panic'd").status())
        trail.panicked()
    await trail.reach(trail.last_stage)


def _attempted(request: web.BaseRequest) -> str:
    """The authentication methods that the client tried, in kube-apiserver's words."""
    scheme, _, credentials = request.headers.get(hdrs.AUTHORIZATION, "").strip().partition(" ")
    connection = request.protocol
    tried = {
        "basic": scheme.lower() == "basic" and bool(credentials),
        "bearer": scheme.lower() == "bearer" and bool(credentials),
        "x509": isinstance(connection, HTTPConnection) and connection.certificate is not None,
    }
    methods = [method for method, is_tried in tried.items() if is_tried]
    if not methods:
        return "Authentication failed, no credentials provided"
    return f"Authentication failed, attempted: {', '.join(methods)}"
