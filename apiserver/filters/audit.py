"""Audit: records requests as audit events, at the stages of audit.k8s.io, from the time that the user is known.

There are two filters. The one outside of authentication records requests that the deadlines or authentication refuse;
the one inside records all others. Without an audit policy neither is in the chain.

Must hold: a recorded request gets its last event when its handler ends, also when the handler fails.
"""

import asyncio
from http import HTTPStatus

from aiohttp import web
from msgspec.structs import replace

from aio_apiserver.apiserver.auditing.auditor import Auditor
from aio_apiserver.apiserver.filters.deadlines import InvalidTimeout
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.watch_responses import until_ended
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.audit.levels import Stage

_UNKNOWN = UserInfo(name="")
_CLOSED_EARLY = {"status": "Success", "message": "Connection closed early", "code": 200}


def with_early_refusals(handler: Handler, *, auditor: Auditor) -> Handler:
    """Record requests that are refused before their user is known."""

    async def recorded(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        try:
            return await handler(request, context)
        except (errors.Unauthorized, InvalidTimeout) as failure:
            trail = auditor.begin(request, context, _UNKNOWN)
            if trail is not None:
                responses.record(request, replace(context, trail=trail), failure)
                trail.coded(failure.code)
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
            await until_ended(response)
        except BaseException as failure:
            await _failed(request, failure, replace(context, trail=trail), auditor)
            raise
        await trail.started(response.status)
        trail.coded(response.status)
        await trail.reach(trail.last_stage)
        return response

    return audited


async def _failed(request: web.BaseRequest, failure: BaseException, context: RequestContext, auditor: Auditor) -> None:
    """Record the end of a request without a response. An outer filter answers the failure, if the client is still
    connected.
    """
    trail = context.trail
    assert trail is not None
    if isinstance(failure, asyncio.CancelledError) and 0 < context.deadline <= auditor.clock.patience.monotonic():
        failure = errors.Timeout("request did not complete within the allotted timeout")
    if isinstance(failure, errors.StatusError):
        responses.record(request, context, failure)
        await trail.started(failure.code)
    elif isinstance(failure, asyncio.CancelledError | ConnectionError):
        if trail.status is None:
            trail.status = dict(_CLOSED_EARLY)
            await trail.started(HTTPStatus.OK)
    else:
        responses.record(request, context, errors.InternalError("APIServer panic'd"))
        trail.panicked()
    await trail.reach(trail.last_stage)
