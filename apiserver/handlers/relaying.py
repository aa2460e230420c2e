"""Relaying: copies the body of a backend's response to the client."""

from aiohttp import ClientPayloadError, ClientResponse, web

from aio_apiserver.apiserver.wire.context import RequestContext


async def relay(
    request: web.BaseRequest, context: RequestContext, answer: ClientResponse, response: web.StreamResponse
) -> web.StreamResponse:
    """Send the head of the response, then the body as it arrives."""
    await context.started(response.status)
    await response.prepare(request)
    try:
        async for chunk in answer.content.iter_any():
            await response.write(chunk)
    except ClientPayloadError:
        # The part that was sent stays. The client sees the closed connection and knows that the body is incomplete.
        response.force_close()
        return response
    await response.write_eof()
    return response
