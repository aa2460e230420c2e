"""Sending: writes the response inside of the outer filters, so that deadlines and errors also cover slow clients.

Must hold: from the signal to stop on, each head that is written here says that the connection closes, so that clients
go to another server. When an earlier head has not said so, the connection stays open for the client's next request. A
response is written once, also when both filters meet it.
"""

from collections.abc import Awaitable
from contextlib import AbstractContextManager, nullcontext

from aiohttp import web

from aio_apiserver.apiserver.wire import framing
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.apiserver.wire.single_write import SingleWriteResponse
from aio_apiserver.apiserver.wire.watch_responses import WatchResponse
from aio_apiserver.base import tracing
from aio_apiserver.base.tracing import TraceLayer

_LONG_BYTES = 128 * 1024


def with_sending(handler: Handler, draining: Draining) -> Handler:
    """Write the response of the handler. The connection writes the end of a watch."""

    async def sent(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        response = await handler(request, context)
        rest = sending(request, response, draining)
        if rest is not None:
            await rest
        return response

    return sent


def with_long_sending(handler: Handler, draining: Draining) -> Handler:
    """Write long responses inside of the audit filter. Their last event then follows the last byte and tells how long
    the client has taken.
    """

    async def sent(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        response = await handler(request, context)
        if context.trail is None or not _is_long(response):
            return response
        context.trail.coded(response.status)
        rest = sending(request, response, draining)
        if rest is not None:
            with tracing.timed(TraceLayer.WRITING), _serializing():
                await rest
        return response

    return sent


def _serializing() -> AbstractContextManager[None]:
    """Adds the block to the serialization of an object. Documents such as OpenAPI are not serialized."""
    is_object = TraceLayer.SERIALIZING in tracing.current().layers
    return tracing.timed(TraceLayer.SERIALIZING) if is_object else nullcontext()


def _is_long(response: web.StreamResponse) -> bool:
    """Whether writing a response may take a while. A stream is written by its handler."""
    if not isinstance(response, web.Response):
        return False
    return response.content_length is None or response.content_length >= _LONG_BYTES


def sending(request: web.BaseRequest, response: web.StreamResponse, draining: Draining) -> Awaitable[None] | None:
    """Begin to write a response. Returns the rest of that work; None when all is written."""
    is_last = draining.is_announced and not response.prepared
    if is_last or (request.content is not framing.NO_BODY and framing.ends_with(request)):
        response.force_close()
    if type(response) is not SingleWriteResponse:
        is_watch = type(response) is WatchResponse and not response.has_ended  # the connection ends it
        return None if is_watch else _send(request, response)
    if response.is_written or not response.write_to(request):
        return None
    return request.writer.drain()


async def _send(request: web.BaseRequest, response: web.StreamResponse) -> None:
    """What is written already is not written again."""
    await response.prepare(request)
    await response.write_eof()
