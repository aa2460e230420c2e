"""Streams: a watch's answer, written straight to the connection.

A WatchStream is the WatchSink of one client: batches come as finished chunks and go to the transport without a task or
an await per event. Must hold: the headers are out before the first chunk; what is held for a slow reader is bounded
(the sink says how much it has, and the cache stops feeding it); nothing is written behind the last chunk, which the
response's own end sends.
"""

import asyncio
from typing import NamedTuple

from aiohttp import web

from apiserver import responses
from apiserver.context import RequestContext
from apiserver.draining import Draining
from registry.errors import StatusError
from registry.generic.interpret import Operation, status_error
from registry.names import GroupResource
from storage.errors import StorageError
from storage.interface import Encoder, WatchBatch

_BACKLOG_LIMIT = 1024 * 1024


def chunk(body: bytes) -> bytes:
    """Bytes as one chunk of an HTTP/1.1 body."""
    return b"%x\r\n%b\r\n" % (len(body), body)


class Frames(NamedTuple):
    """How batches become chunks: the first one of a stream may have to say more than the others.

    A batch that cannot be written is an empty frame, and ends the stream.
    """

    first: Encoder
    rest: Encoder


class WatchStream:
    """Delivers to one HTTP response."""

    def __init__(self, request: web.BaseRequest, context: RequestContext, frames: Frames) -> None:
        self._request = request
        self._context = context
        self._frames = frames
        self._encode = frames.first
        self._transport: asyncio.Transport | None = None
        self._early: list[bytes] = []
        self._over = asyncio.Event()

    @property
    def backlog(self) -> int:
        if self._transport is None:
            return sum(map(len, self._early))
        return self._transport.get_write_buffer_size()

    @property
    def backlog_limit(self) -> int:
        return _BACKLOG_LIMIT

    def deliver(self, batch: WatchBatch) -> None:
        frame = batch.encoded(self._encode)
        self._encode = self._frames.rest
        if frame:
            self._write(frame)
        else:
            self._over.set()

    def end(self, reason: StorageError | None) -> None:
        if reason is not None:
            self.fail(status_error(reason, Operation(GroupResource("", ""), "watch")))
        self._over.set()

    def fail(self, failure: StatusError) -> None:
        """Tell the client what went wrong, as the last event."""
        event = {"type": "ERROR", "object": failure.status()}
        self._write(chunk(responses.dump(event, is_pretty=False)))
        self._over.set()

    async def run(self, seconds: float, draining: Draining) -> web.StreamResponse:
        """Send what comes until the watch ends, the time is up or the server drains."""
        response = await self._begin()
        unsubscribe = draining.subscribe(self._over.set)
        try:
            async with asyncio.timeout(seconds):
                await self._over.wait()
        except TimeoutError:
            pass
        finally:
            unsubscribe()
        return response

    async def _begin(self) -> web.StreamResponse:
        response = web.StreamResponse(headers=responses.headers(self._context, responses.JSON))
        response.enable_chunked_encoding()
        await response.prepare(self._request)
        assert self._request.transport is not None
        self._transport = self._request.transport
        for frame in self._early:
            self._transport.write(frame)
        self._early.clear()
        return response

    def _write(self, frame: bytes) -> None:
        if self._transport is None:
            self._early.append(frame)
        elif not self._transport.is_closing():
            self._transport.write(frame)
