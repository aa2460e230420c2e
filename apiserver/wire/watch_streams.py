"""Watch streams: the response of a watch, written past aiohttp to the connection.

A WatchStream is the WatchSink of one client. It writes finished batches without a task or an await for each event. It
must not know how events are encoded.

Must hold: the headers go out before the first event. The backlog of a slow client is bounded: the stream reports its
size, and the cache stops delivering. After its end the stream writes no more. aiohttp finishes the response when the
client has read what waited. A begun stream keeps neither the request nor its context.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from http import HTTPStatus
from typing import NamedTuple

from aiohttp import web

from aio_apiserver.apiserver.wire import responses, websockets
from aio_apiserver.apiserver.wire.connections import HTTPConnection
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.paced_writing import PacedWriter
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.apiserver.wire.watch_framing import Wire
from aio_apiserver.apiserver.wire.watch_responses import WatchResponse
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.interpret import StorageCall, status_error
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.interface import Encoder, WatchBatch

_BACKLOG_LIMIT = 1024 * 1024

Delivered = Callable[[WatchBatch, int], None]
"""Counts the events and bytes that were sent to the client."""


class Frames(NamedTuple):
    """How batches are encoded. The first batch of a stream may be encoded differently.

    A batch that cannot be encoded gives empty bytes, and ends the stream.
    """

    wire: Wire
    first: Encoder
    rest: Encoder
    failure: Callable[[StatusError], bytes]


class WatchStream:
    """The sink of one HTTP response or WebSocket."""

    __slots__ = ("_early", "_encode", "_frames", "_is_cut", "_is_over", "_over", "_writer", "delivered")

    def __init__(self, frames: Frames, delivered: Delivered) -> None:
        self._frames = frames
        self.delivered = delivered
        """Called after each batch, and may replace itself."""
        self._encode = frames.first
        self._writer: PacedWriter | None = None
        self._early: list[bytes] = []
        self._is_cut = False
        self._is_over = False
        self._over: asyncio.Future[None] | None = None
        """What `_stream` waits for."""

    backlog_limit = _BACKLOG_LIMIT

    @property
    def backlog(self) -> int:
        writer = self._writer
        if writer is None:
            return sum(map(len, self._early))
        return writer.waiting + writer.transport.get_write_buffer_size()

    def deliver(self, batch: WatchBatch) -> None:
        """Each event for each watcher comes here."""
        encode = self._encode
        frame = batch.frames.get(encode) or batch.encoded(encode)
        self._encode = self._frames.rest
        if not frame:
            self._end()
            return
        self.delivered(batch, len(frame))
        if self._writer is None:
            self._early.append(frame)
        else:
            self._writer.write(frame)

    def end(self, reason: StorageError | None) -> None:
        if reason is not None:
            self.fail(status_error(reason, StorageCall(GroupResource("", ""), "watch")))
        self._end()

    def fail(self, failure: StatusError) -> None:
        """Send the failure to the client as the last event."""
        self._write(self._frames.failure(failure))
        self._end()

    def cut(self) -> None:
        """Close the connection after the bytes that were written."""
        self._is_cut = True
        if self._writer is not None:
            self._writer.close_behind()
        self._end()

    def respond(
        self, request: web.BaseRequest, context: RequestContext, seconds: float, draining: Draining
    ) -> Awaitable[web.StreamResponse]:
        """Send events until the watch ends, the time is up, the client disconnects or the server drains.

        A WatchResponse sends them when it is waited for. A WebSocket is returned behind the last event.
        """
        begin = self._respond_socket if self._frames.wire.is_socket else self._begin
        return begin(request, context, seconds, draining)

    async def _respond_socket(
        self, request: web.BaseRequest, context: RequestContext, seconds: float, draining: Draining
    ) -> web.StreamResponse:
        async with AsyncExitStack() as stack:
            response = await self._begin_socket(request, context, stack)
            await self._stream(_connection_of(request), seconds, draining)
        return response

    async def _stream(self, connection: HTTPConnection, seconds: float, draining: Draining) -> None:
        """Wait until the end, and until the client has read what waits then."""
        writer, loop = self._open(connection), asyncio.get_running_loop()
        draining.subscribe(self._end)
        timer = loop.call_later(seconds, self._end)
        try:
            if not self._is_over:
                self._over = loop.create_future()
                await self._over
            await writer.finish()
        finally:
            timer.cancel()
            draining.unsubscribe(self._end)
            writer.close()

    def _end(self) -> None:
        self._is_over = True
        if self._over is not None and not self._over.done():
            self._over.set_result(None)

    async def _begin(
        self, request: web.BaseRequest, context: RequestContext, seconds: float, draining: Draining
    ) -> web.StreamResponse:
        """Send the head. From the signal to stop on, it says that the connection closes behind the watch."""
        wire = self._frames.wire
        rest = partial(self._stream, _connection_of(request), seconds, draining)
        response = WatchResponse(responses.headers(context, wire.content_type), rest)
        if wire.is_chunked:
            response.enable_chunked_encoding()
        if draining.is_announced or not wire.is_chunked:
            response.force_close()
        await context.started(response.status)
        await response.prepare(request)
        return response

    async def _begin_socket(
        self, request: web.BaseRequest, context: RequestContext, stack: AsyncExitStack
    ) -> web.StreamResponse:
        """Messages of the client are ignored; its close ends the watch."""
        socket = await websockets.accept(request, responses.headers(context, self._frames.wire.content_type))
        await context.started(HTTPStatus.SWITCHING_PROTOCOLS)
        stack.push_async_callback(socket.close)
        reading = Tasks()
        stack.push_async_callback(reading.close)
        reading.spawn(self._read(socket), name="read a watch's socket")
        return socket

    async def _read(self, socket: web.WebSocketResponse) -> None:
        await websockets.wait_until_closed(socket)
        self._end()

    def _open(self, connection: HTTPConnection) -> PacedWriter:
        """The headers were sent: write the events that came earlier."""
        writer = self._writer = connection.paced(is_whole=self._frames.wire.is_socket)
        for frame in self._early:
            writer.write(frame)
        self._early.clear()
        if self._is_cut:
            writer.close_behind()
        return writer

    def _write(self, frame: bytes) -> None:
        if self._writer is None:
            self._early.append(frame)
        else:
            self._writer.write(frame)


def _connection_of(request: web.BaseRequest) -> HTTPConnection:
    connection = request.protocol
    assert isinstance(connection, HTTPConnection)
    return connection
