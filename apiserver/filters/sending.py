"""Sending: writes the response inside of the outer filters, so that deadlines and errors also cover slow clients.

Must hold: from the signal to stop on, every response closes its connection, so that clients go to another server.
"""

from aiohttp import web

from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.shutdown_signal import Draining


def with_sending(handler: Handler, draining: Draining) -> Handler:
    """Write the response of the handler; for a stream, its end."""

    async def sent(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        response = await handler(request, context)
        await send(request, response, draining)
        return response

    return sent


async def send(request: web.BaseRequest, response: web.StreamResponse, draining: Draining) -> None:
    """Write a response. What is written already is not written again."""
    if draining.is_announced:
        response.force_close()
    await response.prepare(request)
    await response.write_eof()
