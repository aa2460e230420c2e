"""Sending: writes the response inside of the outer filters, so that deadlines and errors also cover slow clients.

Must hold: from the signal to stop on, every response closes its connection, so that clients go to another server.
"""

from collections.abc import Awaitable

from aiohttp import web

from aio_apiserver.apiserver.wire import framing
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.apiserver.wire.single_write import SingleWriteResponse


def with_sending(handler: Handler, draining: Draining) -> Handler:
    """Write the response of the handler; for a stream, its end."""

    async def sent(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        response = await handler(request, context)
        rest = sending(request, response, draining)
        if rest is not None:
            await rest
        return response

    return sent


def sending(request: web.BaseRequest, response: web.StreamResponse, draining: Draining) -> Awaitable[None] | None:
    """Begin to write a response. Returns the rest of that work; None when all is written."""
    if draining.is_announced or (request.content is not framing.NO_BODY and framing.ends_with(request)):
        response.force_close()
    if type(response) is not SingleWriteResponse:
        return _send(request, response)
    if response.is_written or not response.write_to(request):
        return None
    return request.writer.drain()


async def _send(request: web.BaseRequest, response: web.StreamResponse) -> None:
    """What is written already is not written again."""
    await response.prepare(request)
    await response.write_eof()
