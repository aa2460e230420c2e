"""Errors: answers exceptions of the handlers and inner filters with a Status.

Some filters do not raise: request_info, deadlines, audit, connection_limits, impersonation, request_memory, fairness,
max_in_flight and authorization write their refusals themselves, since kube-apiserver gives those another form. This
filter is inside of request_info, because the format of a Status depends on the query.

Must hold: a StatusError is answered with its Status, and an unavailable store with its own Status. Other exceptions are
defects: they are logged with the audit id, and the 500 does not name them. When the response has begun, a failure
closes the connection.
"""

import logging

from aiohttp import web

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.interpret import StorageCall, status_error
from aio_apiserver.storage.errors import Unavailable

logger = logging.getLogger(__name__)


def with_errors(handler: Handler) -> Handler:
    """Answer failures."""

    async def guarded(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        try:
            return await handler(request, context)
        except Exception as failure:  # noqa: BLE001 - it is answered, and logged if it is a defect
            return answer(request, context, failure)

    return guarded


def answer(request: web.BaseRequest, context: RequestContext, failure: Exception) -> web.StreamResponse:
    """The response to a failed request. Raises ConnectionError when there is no client for it."""
    if isinstance(failure, errors.StatusError):
        return _answer(request, context, failure)
    if isinstance(failure, Unavailable):  # of a lookup in a filter
        info = context.info
        operation = StorageCall(GroupResource(info.group, info.resource), info.verb, info.name)
        return _answer(request, context, status_error(failure, operation))
    if isinstance(failure, ConnectionError) and _has_gone(request):
        try:
            raise failure  # aiohttp drops the request
        finally:
            del failure  # else this frame, the failure and its traceback are a cycle with all of the connection
    target = request.method, request.raw_path
    logger.error("%s %s failed (audit id %s)", *target, context.audit_id, exc_info=failure)
    if context.trail is not None:
        context.trail.panicked()
    why = f"this request caused apiserver to panic. Look in the logs for details (audit id {context.audit_id})."
    return _answer(request, context, errors.InternalError(why))


def _has_gone(request: web.BaseRequest) -> bool:
    """Whether the client has disconnected, or its connection was closed."""
    return request.transport is None or request.transport.is_closing()


def _answer(request: web.BaseRequest, context: RequestContext, failure: errors.StatusError) -> web.StreamResponse:
    if request.writer.output_size == 0:
        return responses.error(request, context, failure)
    if request.transport is not None:
        request.transport.abort()
    raise ConnectionResetError("the request failed after its response had begun") from failure
