"""tracing: begins the spans of a request, as kube-apiserver's filters WithTracing and TrackStarted do.

The span `authentication` is the first. The span of the request follows it, when the user is known. Privileged users
continue their own trace, since its header decides whether spans are kept. Their baggage alone goes on to webhooks and
etcd. Then each filter has a span around those behind it. A server with neither traces nor audit events has none of
these filters.
"""

from aiohttp import web

from aio_apiserver.apiserver.tracing import request_fields, trace_context
from aio_apiserver.apiserver.tracing.tracers import Tracer
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.single_write import SingleWriteResponse
from aio_apiserver.apiserver.wire.watch_responses import until_ended
from aio_apiserver.base import tracing
from aio_apiserver.base.tracing import SpanKind, TraceLayer, TraceSpan
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.generic.access.authorizer import Attributes, Authorizer, Decision
from aio_apiserver.registry.generic.access.users import MASTERS

_PRIVILEGED = frozenset({MASTERS, "system:monitoring"})
_SERVER_ERRORS = 500
_STATUS, _SIZE = "http.response.status_code", "http.response.body.size"


def with_first_span(handler: Handler, *, name: str, tracer: Tracer) -> Handler:
    """Begin a trace."""

    async def traced(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        with tracing.within(tracer.first(name)):
            response = await handler(request, context)
            await until_ended(response)
            return response

    return traced


def with_span(handler: Handler, *, name: str) -> Handler:
    """Begin a span for a filter."""

    async def traced(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        with tracing.spanned(name, threshold=None):
            response = await handler(request, context)
            await until_ended(response)
            return response

    return traced


def with_request_span(handler: Handler, *, tracer: Tracer) -> Handler:
    """Begin the span of the request."""

    async def traced(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        around = tracing.current()
        with tracing.within(_span_of(request, context, tracer)) as span:
            if isinstance(around, TraceSpan):
                span.took(TraceLayer.AUTHENTICATION, span.trace.clock.monotonic() - around.began)
            try:
                response = await handler(request, context)
                await until_ended(response)
            except StatusError as failure:
                _note(span, failure.code)
                raise
            _note(span, response.status)
            if type(response) is SingleWriteResponse:
                span.attributes[_SIZE] = len(response.bytes)
            return response

    return traced


class TimedAuthorizer:
    """An authorizer whose decisions count as the time of their request in authorization."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self.rules_for = authorizer.rules_for

    async def authorize(self, attributes: Attributes) -> Decision:
        with tracing.timed(TraceLayer.AUTHORIZATION):
            return await self._authorizer.authorize(attributes)


def _span_of(request: web.BaseRequest, context: RequestContext, tracer: Tracer) -> TraceSpan:
    if not tracer.exports:
        return tracer.first("request", began=context.received)
    name = request_fields.name_of(request.method, context.info)
    attributes = request_fields.of_request(request, context)
    parent = trace_context.parent_of(request.headers)
    began, kind = context.received, SpanKind.SERVER
    if _PRIVILEGED.isdisjoint(context.user.groups):
        return tracer.first(name, attributes, kind=kind, linked=parent, began=began)
    baggage = trace_context.baggage_of(request.headers)
    if parent is not None:
        return tracer.continued(parent, name, attributes, kind=kind, baggage=baggage, began=began)
    around = tracing.current()
    assert isinstance(around, TraceSpan), "authentication has begun it"
    return tracer.inside(around, name, attributes, kind=kind, baggage=baggage, began=began)


def _note(span: TraceSpan, status: int) -> None:
    span.attributes[_STATUS] = status
    span.has_failed = status >= _SERVER_ERRORS
