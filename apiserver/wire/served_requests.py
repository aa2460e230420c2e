"""served_requests: ServedRequest and PacedStreamWriter, aiohttp's request and response writer as this server uses them.

Each request makes one of both, so they take no steps of their own. Must hold: a long response goes out at the
client's pace.
"""

import asyncio
from collections.abc import Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from aiohttp import ClientConnectionResetError, hdrs, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import SERVER_SOFTWARE, StreamWriter
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader
from yarl import URL

from aio_apiserver.apiserver.wire.heads import NO_FIELDS, NO_HEAD, LongHead, RequestHead
from aio_apiserver.apiserver.wire.paced_writing import LONG, Frame, PacedWriter

if TYPE_CHECKING:
    from aio_apiserver.apiserver.wire.connections import HTTPConnection

_AT_ONCE = 8 * 1024
"""A response up to this size goes out in one write."""


class PacedStreamWriter(StreamWriter):
    """Writes a response. From the first long piece on, it writes at the client's pace."""

    _paced: PacedWriter | None = None

    def write_whole(self, response: bytes) -> bool:
        """Write a response with its head. Returns whether its sender has to wait until the client has read."""
        self._eof = True
        size, protocol = len(response), self._protocol
        if size > _AT_ONCE or self._paced is not None:
            self._pace(response)
            return True
        self.output_size += size
        transport = protocol.transport
        if transport is None or transport.is_closing():
            raise ClientConnectionResetError("Cannot write to closing transport")
        transport.write(response)
        return protocol._paused

    def _write(self, chunk: Frame) -> None:
        size = len(chunk)
        if size > _AT_ONCE or self._paced is not None:
            self._pace(chunk)
            return
        self.buffer_size += size
        self.output_size += size
        transport = self._protocol.transport
        if transport is None or transport.is_closing():
            raise ClientConnectionResetError("Cannot write to closing transport")
        transport.write(chunk)

    def _writelines(self, chunks: Iterable[Frame]) -> None:
        if self._paced is None and sum(map(len, chunks)) <= _AT_ONCE:
            super()._writelines(chunks)
            return
        for chunk in chunks:
            self._pace(chunk)

    def _pace(self, chunk: Frame) -> None:
        paced = self._paced or self._begin_pacing()
        self.buffer_size += len(chunk)
        self.output_size += len(chunk)
        paced.write(chunk)

    def _begin_pacing(self) -> PacedWriter:
        paced = self._paced = cast("HTTPConnection", self._protocol).paced()
        paced.piece = max(paced.piece, LONG)
        return paced

    def hold(self, size: int) -> None:
        """Count what the response holds, beside its pieces, while the client does not read."""
        (self._paced or self._begin_pacing()).held = size

    async def write_eof(self, chunk: bytes = b"") -> None:
        """End the response. The connection closes behind it, or has the next response, so nothing may wait here.

        aiohttp drains the last chunk of a response alone, and leaves the rest to the transport.
        """
        await super().write_eof(chunk)
        if self._paced is not None:
            await self.drain()
            self._paced.held = 0

    async def drain(self) -> None:
        """Return when the kernel has taken the response so far. Raises ConnectionResetError when the client has
        disconnected, or was disconnected because it does not read.
        """
        if self._paced is None:
            await super().drain()
            return
        await self._paced.drain()
        if self._paced.is_closed:
            raise ClientConnectionResetError("Cannot write to closing transport")


class ServedRequest(web.BaseRequest):
    """A request whose response does not carry aiohttp's Server header. Its parts are read without a Python call."""

    head: RequestHead
    """What its header fields say."""
    has_long_head = False
    head_bytes = 0
    """The memory of a long head that counts for the connection."""

    method = property(attrgetter("_method"))
    version = property(attrgetter("_version"))
    headers = property(attrgetter("_headers"))
    raw_headers = property(attrgetter("_message.raw_headers"))
    raw_path = property(attrgetter("_message.path"))
    content = property(attrgetter("_payload"))
    protocol = property(attrgetter("_protocol"))
    writer = property(attrgetter("_payload_writer"))
    task = property(attrgetter("_task"))

    def count_head_for_user(self) -> None:
        """The memory of a long head does not count for the connection any more."""
        if self.head_bytes:
            cast("HTTPConnection", self._protocol).change_head_bytes(-self.head_bytes)
            self.head_bytes = 0

    def forget_head(self) -> None:
        """Free the memory of a long head."""
        self.count_head_for_user()
        cast("LongHead", self._message).forget()
        self._headers, self._rel_url, self.head = NO_FIELDS, URL(), NO_HEAD
        self._cache.clear()

    async def _prepare_hook(self, response: web.StreamResponse) -> None:
        """aiohttp calls this when the headers are complete. The Server header of a backend stays."""
        if response.headers.get(hdrs.SERVER) == SERVER_SOFTWARE:
            del response.headers[hdrs.SERVER]


def served_request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: web.RequestHandler,
    writer: AbstractStreamWriter,
    task: "asyncio.Task[None]",
) -> ServedRequest:
    """What aiohttp calls for each request."""
    writer.__class__ = PacedStreamWriter  # aiohttp has made it for this request, and lets no other class be chosen
    request = ServedRequest(message, payload, protocol, writer, task, task.get_loop())
    connection: Any = protocol
    head: RequestHead = connection.head
    raw = message.raw_headers
    if head.raw != raw and not head.fits(raw):
        # Bytes that are no request have a dict for headers.
        head = RequestHead(raw, message.headers) if raw else NO_HEAD
        connection.head = head if head.is_short else NO_HEAD
    request.head = head
    parsed: object = message
    if type(parsed) is LongHead:
        request.has_long_head, request.head_bytes = True, parsed.size
    return request
