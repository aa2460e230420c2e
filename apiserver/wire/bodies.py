"""Bodies of requests: reads a body whole, up to the limit of 3 MiB.

It must not decode: registry/generic/bodies does. A request waits for the beginning of its body before it takes a seat
of flow control. So a client with a slow body takes no seat from others.

Must hold: a body above the limit is refused before all of it is in memory, by its Content-Length when there is one.
Nothing is decompressed. The server waits at most PAUSE_SECONDS for the next bytes. A client that sent
`Expect: 100-continue` gets `100 Continue` when the handler reads the body, not before.
"""

import asyncio
from collections.abc import AsyncIterator

from aiohttp import StreamReader, hdrs, web

from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.bodies.contents import Body
from aio_apiserver.registry.machinery import media_types

LIMIT = 3 * 1024 * 1024
PAUSE_SECONDS = 10.0
"""The longest pause of a client within its body."""
_BEGINNING_BYTES = 64 * 1024
_BEGINNING = web.RequestKey("beginning", bytearray)
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
BODY = web.RequestKey("body", bytes)
"""The key under which a request keeps the body that was read, for the test bench that records requests."""


async def read(request: web.BaseRequest, *, limit: int = LIMIT) -> bytes:
    """The body. Raises RequestEntityTooLarge; BadRequest when the transfer encoding is broken."""
    body = request[BODY] = await _read(request, limit)
    return body


async def wait_for_beginning(request: web.BaseRequest) -> None:
    """Return when 64 KiB of the body have come, or all of it. Raises Timeout. Errors of the body are left to `read`."""
    content = request.content
    if content.is_eof() or hdrs.EXPECT in request.headers or (request.content_length or 0) > LIMIT:
        return
    beginning = request[_BEGINNING] = bytearray()
    try:
        while len(beginning) < _BEGINNING_BYTES and (chunk := await _next(content)):
            beginning += chunk
    except web.RequestPayloadError:
        return


async def stream(request: web.BaseRequest, size: int) -> AsyncIterator[bytes]:
    """The body in chunks of at most `size` bytes."""
    beginning = request.get(_BEGINNING) or b""
    for start in range(0, len(beginning), size):
        yield bytes(beginning[start : start + size])
    async for chunk in request.content.iter_chunked(size):
        yield chunk


async def read_typed(request: web.BaseRequest, context: RequestContext) -> Body:
    """The body with its media type, user and warnings, for the decoder."""
    text = await read(request)
    media_type = request.headers.get(hdrs.CONTENT_TYPE, "").partition(";")[0].strip().lower() or media_types.JSON
    return Body(text, media_type, context.user.name, context.warnings.add)


async def _read(request: web.BaseRequest, limit: int) -> bytes:
    if (request.content_length or 0) > limit:
        raise _too_large(limit)
    if request.headers.get(hdrs.EXPECT, "").lower() == "100-continue":
        await _invite(request)
    body = request.get(_BEGINNING) or bytearray()
    try:
        while chunk := await _next(request.content):
            if not body and request.content.at_eof() and len(chunk) <= limit:
                return chunk
            body += chunk
            if len(body) > limit:
                raise _too_large(limit)
    except web.RequestPayloadError as exc:
        raise errors.BadRequest("the body of the request is malformed") from exc
    return bytes(body)


async def _next(content: StreamReader) -> bytes:
    """The next bytes; none at the end. Raises Timeout."""
    if content.is_eof():
        return await content.readany()
    try:
        async with asyncio.timeout(PAUSE_SECONDS):
            return await content.readany()
    except TimeoutError:
        raise errors.Timeout("the body of the request did not come in time") from None


async def _invite(request: web.BaseRequest) -> None:
    await request.writer.write(_CONTINUE)
    request.writer.output_size = 0  # the answer itself has not begun


def _too_large(limit: int) -> errors.RequestEntityTooLarge:
    return errors.RequestEntityTooLarge(f"limit is {limit}")
