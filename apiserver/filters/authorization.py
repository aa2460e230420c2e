"""Authorization: asks the authorizer whether the user may do what the request asks for, and answers 403 if not.

It must not know authorization modes.

Must hold: a response does not reveal stored objects before the authorizer has allowed the request.
"""

import html
import logging

from aiohttp import web

from aio_apiserver.apiserver.access.attributes import attributes_of
from aio_apiserver.apiserver.metrics.access import AccessMetrics
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access import refusals
from aio_apiserver.registry.generic.access.authorizer import Authorizer, Decision, Verdict
from aio_apiserver.registry.generic.audit.trail import Trail

logger = logging.getLogger(__name__)

_ALLOW = Verdict.ALLOW  # looked up once: each request compares it
_DECISION = "authorization.k8s.io/decision"
_REASON = "authorization.k8s.io/reason"


def with_authorization(handler: Handler, authorizer: Authorizer, metrics: AccessMetrics, clock: Clock) -> Handler:
    """Answer 403 unless the authorizer allows the request."""

    async def authorized(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        began = clock.monotonic()
        attributes = attributes_of(context.user, context.info, context.query)
        decision = await authorizer.authorize(attributes)
        metrics.decided(decision, clock.monotonic() - began)
        if context.trail is not None:
            _note(context.trail, decision)
        if decision.verdict is _ALLOW:
            return await handler(request, context)
        if decision.error:
            logger.error("authorization failed: %s", decision.error)
            why = f"Internal Server Error: {quote(request.raw_path)}: {decision.error}\n"
            return responses.text(context, html.escape(why, quote=False), status=500)
        response = responses.error(request, context, refusals.forbidden(attributes, decision.reason))
        response.headers[responses.NOSNIFF] = "nosniff"
        return response

    return authorized


def _note(trail: Trail, decision: Decision) -> None:
    if decision.error and not decision.is_allowed:
        trail.annotate(_REASON, "internal error")
        return
    trail.annotate(_DECISION, "allow" if decision.is_allowed else "forbid")
    trail.annotate(_REASON, decision.reason)
