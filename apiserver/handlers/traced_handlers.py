"""traced_handlers: handlers in the spans that kube-apiserver's handlers begin: Get, List, Create and so on.

The time from a handler's last step to its response counts as the serialization of the response. As in kube-apiserver,
the transformation into a table or partial metadata does not belong to it.
"""

from typing import Any

from aiohttp import web

from aio_apiserver.apiserver.handlers.resources import Handle, Handlers
from aio_apiserver.apiserver.tracing import request_fields
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.base import tracing
from aio_apiserver.base.tracing import TraceLayer, TraceSpan
from aio_apiserver.registry.generic.served import Served

_SPANS = {
    "get": "Get",
    "list": "List",
    "create": "Create",
    "update": "Update",
    "patch": "Patch",
    "delete": "Delete",
    "deletecollection": "Delete",
}
"""By verb. A watch has none, since it lasts."""


def traced(handlers: Handlers) -> Handlers:
    """The handlers by verb, in spans."""
    return {verb: _in_span(_SPANS[verb], handle) if verb in _SPANS else handle for verb, handle in handlers.items()}


def _in_span(name: str, handle: Handle) -> Handle:
    async def handled(request: web.BaseRequest, context: RequestContext, served: Served[Any]) -> web.StreamResponse:
        with tracing.spanned(name, request_fields.of_handler(request, context)) as span:
            response = await handle(request, context, served)
            if isinstance(span, TraceSpan):
                _note_serialization(span)
            return response

    return handled


def _note_serialization(span: TraceSpan) -> None:
    seconds = span.trace.clock.monotonic() - span.stepped
    span.took(TraceLayer.SERIALIZING, seconds - span.layers.get(TraceLayer.TRANSFORMING, 0.0))
