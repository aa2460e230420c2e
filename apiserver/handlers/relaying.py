"""Relaying: the body of another server's answer, passed on as it comes."""

from aiohttp import ClientPayloadError, ClientResponse, web

from aio_apiserver.apiserver.wire.context import RequestContext


async def relay(
    request: web.BaseRequest, context: RequestContext, answer: ClientResponse, response: web.StreamResponse
) -> web.StreamResponse:
    """Begin the response and give it the body of the answer."""
    await context.started(response.status)
    await response.prepare(request)
    try:
        async for chunk in answer.content.iter_any():
            await response.write(chunk)
    except ClientPayloadError:
        # What has been sent stays; the end of the connection tells that it is not all.
        response.force_close()
        return response
    await response.write_eof()
    return response
