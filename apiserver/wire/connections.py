"""Connections: one HTTP/1.1 connection of a client, on aiohttp's server, with the limits and refusals of
kube-apiserver.

With request_parser.py and framing.py it turns bytes into requests. It must not know filters.

Must hold: the client certificate of a connection is read once. Nothing is decompressed. Bytes that are not HTTP get a
short 4xx without a traceback, and the connection is closed.
"""

import asyncio
import contextlib
import logging
import ssl
import traceback
from collections.abc import Awaitable, Callable, Iterator
from http import HTTPStatus
from typing import Any, cast

from aiohttp import ClientConnectionResetError, hdrs, web
from aiohttp.http_exceptions import BadHttpMethod, LineTooLong
from aiohttp.http_parser import HttpRequestParser
from aiohttp.web_protocol import RequestPayloadError

from aio_apiserver.apiserver.tls.client_certificates import ClientCertificate, ClientCertificates
from aio_apiserver.apiserver.wire import framing, responses, route_errors
from aio_apiserver.apiserver.wire.connection_limits import ConnectionLimits
from aio_apiserver.apiserver.wire.head_memory import HeadMemory
from aio_apiserver.apiserver.wire.heads import NO_HEAD
from aio_apiserver.apiserver.wire.paced_writing import PacedWriter, PacedWriters
from aio_apiserver.apiserver.wire.request_parser import AnyMethodParser, RequestParser
from aio_apiserver.apiserver.wire.served_requests import ServedRequest, served_request
from aio_apiserver.apiserver.wire.single_write import SingleWriteResponse
from aio_apiserver.apiserver.wire.watch_responses import WatchResponse
from aio_apiserver.base.clock import SystemClock

logger = logging.getLogger(__name__)

_LINE_LIMIT = 128 * 1024
_FIELD_LIMIT = 64 * 1024
_MOST_HEADERS = 1024
"""An authenticating front proxy sends one header for each group of a user."""
HEAD_SECONDS = 32.0
"""The time limit for the head of the first request, as in kube-apiserver. Later heads have the time limit of an idle
connection.
"""
_UNREAD_BYTES = 64 * 1024
"""The bytes that wait here for a request that does not read them, before the connection is paused. A body waits with
twice as many.
"""
_UNREAD_TLS_BYTES = 16 * 1024
"""The encrypted bytes that wait when the connection is paused; one more read of the event loop may follow."""
_UNSENT_BYTES = 32 * 1024
"""The bytes of short responses that wait for a client, before its next request waits."""
_MOST_QUEUED = 2
"""The parsed requests that wait for the one before them. A request with 1,000 header fields takes 0.4 MB. Further bytes
of pipelined requests are not parsed yet.
"""
_KEEPALIVE_SECONDS = 120
_LINGERING_SECONDS = 2
_REFUSED_SECONDS = 0.5
"""The time for a client to read the response to bytes that are no request."""

RequestHandler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Sockets:
    """Counts the open sockets, because aiohttp's shutdown does not wait until they are closed."""

    def __init__(self) -> None:
        self._open = 0
        self._all_closed = asyncio.Event()

    def opened(self) -> None:
        self._open += 1
        self._all_closed.clear()

    def closed(self) -> None:
        self._open -= 1
        if not self._open:
            self._all_closed.set()

    async def wait_until_closed(self, seconds: float) -> None:
        """Return when no socket is open, or after the time limit."""
        if self._open:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._all_closed.wait(), seconds)


class HTTPConnection(web.RequestHandler):
    """The connection of one client."""

    __slots__ = (
        "_address",
        "_certificates",
        "_head_seconds",
        "_heads",
        "_is_refused",
        "_limits",
        "_lost",
        "_paced",
        "_sockets",
        "_writers",
        "certificate",
        "head",
        "head_timer",
        "is_busy",
        "user",
    )

    def __init__(
        self,
        manager: web.Server,
        *,
        sockets: "Sockets",
        limits: ConnectionLimits,
        heads: HeadMemory,
        writers: PacedWriters,
        certificates: ClientCertificates,
        head_seconds: float,
        **kwargs: Any,
    ) -> None:
        super().__init__(manager, **kwargs)
        self._head_seconds = head_seconds
        self._heads: HeadMemory | None = heads
        """The memory for long heads; None when they count no more."""
        self.head_timer: asyncio.TimerHandle | None = None
        """Closes the connection when its first request does not come."""
        # aiohttp's own parser of this connection has another limit of queued requests.
        parser: Any = RequestParser(self._usual_parser, self._parser_of_any_method, self.change_head_bytes)
        self._parser = parser
        self._max_msg_queue_size = _MOST_QUEUED  # it must pause no later than the parser does
        self._msg_queue_resume_size = self._max_msg_queue_size // 2
        self.is_busy = False
        self.head = NO_HEAD
        """What the header fields of the latest request said."""
        self.user = ""
        """The user of the present request, who has this connection."""
        self._address: str | None = None
        """The address for which the connection counts; None when it was refused."""
        self._is_refused = False
        """Whether the client has sent bytes that are no request."""
        self._lost: asyncio.Event | None = None
        self._limits = limits
        self._writers = writers
        self._paced: PacedWriter | None = None
        self._sockets = sockets
        self._certificates = certificates
        self.certificate: ClientCertificate | None = None
        """The certificate of the client; None without one. It is not verified here."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._sockets.opened()
        super().connection_made(transport)
        limit_unread = getattr(transport, "set_read_buffer_limits", None)  # of TLS
        if limit_unread is not None:
            limit_unread(high=_UNREAD_TLS_BYTES)
        written: Any = transport  # uvloop's are of no common class
        written.set_write_buffer_limits(high=_UNSENT_BYTES)
        self.head_timer = self._loop.call_later(self._head_seconds, self._end_without_request)
        peer = transport.get_extra_info("peername")
        address = peer[0] if peer else ""
        if self._limits.admit(address):
            self._address = address
            tls = transport.get_extra_info("ssl_object")
            self.certificate = self._certificates.of(tls) if isinstance(tls, ssl.SSLObject) else None
        else:
            self.force_close()

    def paced(self, *, is_whole: bool = False) -> PacedWriter:
        """The writer for much data. Raises ConnectionResetError when the connection is closed."""
        if self._paced is None:
            if self.transport is None:
                raise ClientConnectionResetError("Cannot write to closing transport")
            self._paced = PacedWriter(self._writers, self.transport, is_whole=is_whole)
        return self._paced

    @contextlib.contextmanager
    def calls_when_stalled(self, report: Callable[[], None]) -> Iterator[None]:
        """Call `report` when the client takes no bytes for a while."""
        if self.transport is not None:
            self.paced().on_stalled = report
        try:
            yield
        finally:
            if self._paced is not None:
                self._paced.on_stalled = None

    def count_for(self, user: str) -> bool:
        """Count the connection for the user of its present request. Returns whether the user may have it."""
        if self._address is None or user == self.user:
            return True
        is_admitted = self._limits.change_user(self.user, user)
        self.user = user if is_admitted else ""
        return is_admitted

    def change_head_bytes(self, change: int) -> None:
        """The long heads of the connection take so much more memory, or less."""
        if self._heads is not None:
            self._heads.change(self, change)

    def refuse_head(self) -> None:
        """Answer 431 to a head that has not ended. A request that runs ends with its connection."""
        self._heads = None
        transport, parser = self.transport, self._parser
        if transport is not None and self.is_busy:
            transport.abort()
        elif parser is not None:
            cast("RequestParser", parser).refuse()
            self._loop.call_soon(self._refuse)

    def _refuse(self) -> None:
        if self._parser is not None:
            self.data_received(b"")

    def connection_lost(self, exc: BaseException | None) -> None:
        if self._heads is not None:
            self._heads.forget(self)
            self._heads = None
        if self._address is not None:
            self._limits.leave(self._address, self.user)
            self._address = None
        if self._paced is not None:
            self._paced.close()
            self._paced = None  # it has the transport, and the transport has this connection
        if self.head_timer is not None:
            self.head_timer.cancel()
        if self._lost is not None:
            self._lost.set()
        handler: asyncio.Task[None] | None = self._task_handler
        super().connection_lost(exc)
        if handler is not None:
            handler.add_done_callback(_forget_frames)
        self._sockets.closed()

    def _end_without_request(self) -> None:
        """Close the connection when its first request has not come in time."""
        self.head_timer = None
        if not self._request_count:
            self.force_close()

    async def finish_response(
        self, request: web.BaseRequest, response: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """aiohttp writes the response here. The filters have written a usual one already."""
        assert isinstance(request, ServedRequest)
        if request.has_long_head:
            self._forget_head(request)
        if type(response) is SingleWriteResponse and response.is_written and not self._upgraded:
            return response, False
        if type(response) is WatchResponse and not response.has_ended:
            self._begin_watch(response)
            try:
                await response.until_ended()
            except ConnectionError:
                return response, True
        finished = await super().finish_response(request, response, start_time)
        if self._is_refused:
            await self._wait_for_client()
        return finished

    def _forget_head(self, request: ServedRequest) -> None:
        """Free the memory of a long head, of which aiohttp's parser has a copy."""
        request.forget_head()
        if self._parser is not None:
            cast("RequestParser", self._parser).forget_head(request._message)

    def _begin_watch(self, response: WatchResponse) -> None:
        """A watch goes on behind its handler, and takes little memory."""
        self.is_busy = True
        response.at_end(self._end_watch)
        response.headers.clear()  # they were sent
        self.keep_alive(True)  # stops the timer of an idle connection

    def _end_watch(self) -> None:
        self.is_busy = False
        if isinstance(self._manager, Connections) and self._manager.is_closing:
            self.close()

    async def _wait_for_client(self) -> None:
        """Discard what the client still sends, until it has closed the connection, or for half a second as Go does.

        The kernel resets a connection that is closed with unread bytes, and the client may lose the response.
        """
        self.close()
        if self.transport is None:
            return
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._lost = asyncio.Event()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REFUSED_SECONDS):
                await self._lost.wait()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer bytes that cannot be read as a request. Failures of requests are answered in filters/errors.py."""
        self._is_refused = True
        if isinstance(exc, BadHttpMethod):
            body = responses.dump(route_errors.RouteMethodNotAllowed().status(), is_pretty=False)
            response = web.Response(body=body, status=405, content_type=responses.JSON)
        elif isinstance(exc, LineTooLong):
            response = web.Response(text="431 Request Header Fields Too Large", status=431)
        else:
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR and not isinstance(exc, ConnectionError):
                logger.error("%s %s could not be read", request.method, request.raw_path, exc_info=exc)
            response = web.Response(text=f"{status} {HTTPStatus(status).phrase}", status=status)
        response.force_close()
        return response

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log a failure, but not a broken body behind the response to its request."""
        if not isinstance(kw.get("exc_info"), RequestPayloadError):
            super().log_exception(*args, **kw)

    def _usual_parser(self) -> HttpRequestParser:
        parser: Any = HttpRequestParser
        usual: HttpRequestParser = parser(self, self._loop, self._read_bufsize, **self._parser_limits())
        return usual

    def _parser_of_any_method(self) -> AnyMethodParser:
        return AnyMethodParser(self, self._loop, self._read_bufsize, **self._parser_limits())

    def _parser_limits(self) -> dict[str, Any]:
        return {
            "max_line_size": self.max_line_size,
            "max_headers": self.max_headers,
            "max_field_size": self.max_field_size,
            "max_msg_queue_size": _MOST_QUEUED,
            "payload_exception": RequestPayloadError,
            "auto_decompress": False,
        }


def _forget_frames(ended: "asyncio.Task[None]") -> None:
    """Free the local variables of a cancelled task. Its error has a traceback with this connection, and the connection
    has the task: a cycle, which would stay until a long garbage collection.
    """
    try:
        failure = ended.exception()
    except asyncio.CancelledError as cancelled:
        failure = cancelled
    seen = set[int]()
    while failure is not None and id(failure) not in seen:
        seen.add(id(failure))
        traceback.clear_frames(failure.__traceback__)
        failure = failure.__context__


class Connections(web.Server):
    """All connections of one listener, and the handler for their requests."""

    def __init__(
        self,
        handler: RequestHandler,
        *,
        limits: ConnectionLimits | None = None,
        heads: HeadMemory | None = None,
        writers: PacedWriters | None = None,
        head_seconds: float = HEAD_SECONDS,
    ) -> None:
        super().__init__(self._serve, request_factory=served_request, handler_cancellation=True)
        self._handler = handler
        self._limits = limits or ConnectionLimits()
        self._heads = heads or HeadMemory()
        self._writers = writers or PacedWriters(SystemClock())
        self._head_seconds = head_seconds
        self.is_closing = False
        """Whether connections close behind their present requests."""
        self._certificates = ClientCertificates()
        self.sockets = Sockets()

    def __call__(self) -> web.RequestHandler:
        return HTTPConnection(
            self,
            sockets=self.sockets,
            limits=self._limits,
            heads=self._heads,
            writers=self._writers,
            certificates=self._certificates,
            head_seconds=self._head_seconds,
            max_headers=_MOST_HEADERS,
            loop=asyncio.get_running_loop(),
            access_log=None,
            auto_decompress=False,
            keepalive_timeout=_KEEPALIVE_SECONDS,
            lingering_time=_LINGERING_SECONDS,
            read_bufsize=_UNREAD_BYTES,
            max_line_size=_LINE_LIMIT,
            max_field_size=_FIELD_LIMIT,
        )

    def close_when_idle(self) -> None:
        """Close idle connections now, and each busy connection after its present request.

        aiohttp's own pre_shutdown does not do this: a busy connection that it closes stops reading the body of its
        request.
        """
        self.is_closing = True
        for connection in self.connections:
            if isinstance(connection, HTTPConnection) and not connection.is_busy:
                connection.close()

    def abort(self) -> None:
        """Break every connection at once, without TLS's closing messages."""
        for connection in self.connections:
            if connection.transport is not None:
                connection.transport.abort()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        assert isinstance(request, ServedRequest)
        connection: HTTPConnection = request.protocol
        connection.is_busy = True
        if connection.head_timer is not None:
            connection.head_timer.cancel()
            connection.head_timer = None
        try:
            is_odd = request.head.is_odd or request.method == hdrs.METH_CONNECT
            response: web.StreamResponse | None = framing.refusal(request, request.head) if is_odd else None
            if response is None:
                response = await self._handler(request)
            if request.content is not framing.NO_BODY and framing.ends_with(request):
                response.force_close()
            return response
        finally:
            connection.is_busy = False
            if self.is_closing:
                connection.close()
