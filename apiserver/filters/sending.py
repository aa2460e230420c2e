"""Sending: writes the response inside of the outer filters, so that deadlines and errors also cover slow clients.

Must hold: while the server drains, every response closes its connection.
"""

from aiohttp import web

from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.shutdown_signal import Draining


def with_sending(handler: Handler, draining: Draining) -> Handler:
    """Write the response of the handler; for a stream, its end."""

    async def sent(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        response = await handler(request, context)
        if draining.has_begun:
            response.force_close()
        await response.prepare(request)
        await response.write_eof()
        return response

    return sent
