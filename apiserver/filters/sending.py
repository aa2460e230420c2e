"""Sending: the answer is written within the filters around it, so that deadlines and errors cover slow readers too.

Must hold: while the server drains, every answer closes its connection.
"""

from aiohttp import web

from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.shutdown_signal import Draining


def with_sending(handler: Handler, draining: Draining) -> Handler:
    """Write what the handler returns; of a stream, its end."""

    async def sent(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        response = await handler(request, context)
        if draining.has_begun:
            response.force_close()
        await response.prepare(request)
        await response.write_eof()
        return response

    return sent
