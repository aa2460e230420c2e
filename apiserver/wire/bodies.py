"""Bodies of requests: reads a body whole, up to the limit of 3 MiB.

It must not decode: registry/generic/bodies does. A request waits for its body before it takes a seat of flow control.
So a client with a slow body takes no seat from others. kube-apiserver reads the body in the seat.

Must hold: a body above the limit is refused before all of it is in memory, by its Content-Length when there is one.
Nothing is decompressed. The server waits at most PAUSE_SECONDS for the next bytes. A body has memory
(request_memory.py) before it is read when it is long, or comes behind its head. So has the object in it. A client
that sent `Expect: 100-continue` gets `100 Continue` once, when the server begins to read the body. A body that is
refused by its Content-Length is not asked for.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from aiohttp import StreamReader, hdrs, web

from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.request_memory import RequestMemory
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.bodies.contents import Body
from aio_apiserver.registry.generic.bodies.decoded_sizes import decoded_bytes
from aio_apiserver.registry.machinery import media_types

LIMIT = 3 * 1024 * 1024
PAUSE_SECONDS = 10.0
"""The longest pause of a client within its body."""
_FIRST_CHUNKS_BYTES = 64 * 1024
"""The memory for a body of chunks, whose length is not known. A longer one takes memory for the longest body."""
_SMALL_OBJECT = 512 * 1024
"""The memory of an object for which no request waits."""
_BEGINNING = web.RequestKey("beginning", bytearray)
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
BODY = web.RequestKey("body", bytes)
"""The key under which a request keeps the body that was read, for the test bench that records requests."""


async def read(request: web.BaseRequest, *, limit: int = LIMIT) -> bytes:
    """The body. Raises RequestEntityTooLarge; BadRequest when the transfer encoding is broken."""
    body = request[BODY] = await _read(request, limit)
    return body


class EarlyBodies:
    """The bodies that are read before their requests have seats. memory: for bodies. objects: for what is in them."""

    def __init__(self, memory: RequestMemory, objects: RequestMemory) -> None:
        self._memory = memory
        self._objects = objects

    @staticmethod
    def has(request: web.BaseRequest) -> bool:
        """Whether the body was read early."""
        return _BEGINNING in request

    @asynccontextmanager
    async def read(self, request: web.BaseRequest, user: str) -> AsyncIterator[bool]:
        """Read the body first; its memory counts until the context ends. The context is False when there was no memory
        for it in time. Raises Timeout. Errors of the body are left to the handler.
        """
        async with AsyncExitStack() as stack:
            yield await self._read(request, user, stack) and await self._has_room(request, user, stack)

    async def _read(self, request: web.BaseRequest, user: str, stack: AsyncExitStack) -> bool:
        beginning = request[_BEGINNING] = bytearray()
        length = request.content_length
        if not _is_awaited(request):
            return True
        if not await _take(self._memory, user, _FIRST_CHUNKS_BYTES if length is None else length, stack):
            return False
        await _invite(request)
        lacking = LIMIT - _FIRST_CHUNKS_BYTES if length is None else 0
        with suppress(web.RequestPayloadError):
            while _is_awaited(request):
                if lacking and len(beginning) >= _FIRST_CHUNKS_BYTES:
                    if not await _take(self._memory, user, lacking, stack):
                        return False
                    lacking = 0
                beginning += await _next(request.content)
        return True

    async def _has_room(self, request: web.BaseRequest, user: str, stack: AsyncExitStack) -> bool:
        """Wait until there is room for the object in the body."""
        size = decoded_bytes(request[_BEGINNING])
        return size <= _SMALL_OBJECT or await _take(self._objects, user, min(size, self._objects.per_user), stack)


async def _take(memory: RequestMemory, user: str, size: int, stack: AsyncExitStack) -> bool:
    """Take memory until the end of the stack, if there is some."""
    if not await memory.take(user, size):
        return False
    stack.callback(memory.give_back, user, size)
    return True


def _is_awaited(request: web.BaseRequest) -> bool:
    """Whether more of the body is to come, and to be read."""
    if request.content.at_eof():
        return False
    return (request.content_length or 0) <= LIMIT and len(request[_BEGINNING]) <= LIMIT


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
    if not EarlyBodies.has(request):
        await _invite(request)
    body, content = request.get(_BEGINNING) or bytearray(), request.content
    try:
        if not body and content.is_eof():  # the usual case: it came together with the head
            body = content.read_nowait()
        else:
            while len(body) <= limit and (chunk := await _next(content)):
                body += chunk
    except web.RequestPayloadError as exc:
        raise errors.BadRequest("the body of the request is malformed") from exc
    if len(body) > limit:
        raise _too_large(limit)
    text = bytes(body)
    if EarlyBodies.has(request):
        request[_BEGINNING].clear()  # no second copy while the request runs
    return text


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
    """Ask for the body, if the client waits for that."""
    if request.headers.get(hdrs.EXPECT, "").lower() != "100-continue":
        return
    await request.writer.write(_CONTINUE)
    request.writer.output_size = 0  # the answer itself has not begun


def _too_large(limit: int) -> errors.RequestEntityTooLarge:
    return errors.RequestEntityTooLarge(f"limit is {limit}")
