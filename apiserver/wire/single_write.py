"""Single write: the response for the usual case, whose head and body go out in one write.

aiohttp's response examines compression, chunks and cookies for each response, which takes longer than the lookup of an
object. Here the few usual lines are formatted directly.

Must hold: no value can contain a line break, since values come from parsed request heads, uids and constants. A
response with other headers is a web.Response.
"""

from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from operator import attrgetter
from typing import Any

from aiohttp import HttpVersion11, hdrs, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.helpers import rfc822_formatted_time
from multidict import CIMultiDict

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.groups.flowcontrol.classification import Flow

_CACHING = b"\r\nCache-Control: no-cache, private\r\nContent-Type: "
_PHRASES: Mapping[int, bytes] = {status.value: status.phrase.encode() for status in HTTPStatus}
_CLOSE = b"Connection: close\r\n"


class SingleWriteResponse(web.StreamResponse):
    """A response with just the usual headers."""

    def __init__(self, context: RequestContext, body: bytes, *, status: int, content_type: str) -> None:
        # The base class is not initialized: all its attributes that aiohttp reads are defined below.
        self.bytes = body
        self._context = context
        self._code = status
        self._of_type = content_type
        self._keeps: bool | None = None
        self.is_written = False

    def __repr__(self) -> str:
        return f"<Answer {self._code}>"

    status = property(attrgetter("_code"))
    prepared = property(attrgetter("is_written"))
    keep_alive = property(attrgetter("_keeps"))
    """Whether the connection stays open; None before that is decided."""

    @property
    def reason(self) -> str:
        return _PHRASES[self._code].decode()

    @property
    def headers(self) -> CIMultiDict[str]:
        """The headers, without length and date. Changes to them have no effect."""
        return responses.headers(self._context, self._of_type)

    def write_to(self, request: web.BaseRequest) -> bool:
        """Write head and body. Returns whether the sender has to wait until the client has read."""
        self.is_written = True
        if self._keeps is None:
            self._keeps = not request._message.should_close
        context, body = self._context, self.bytes
        begin, middle = _lines(self._code, self._of_type, context.flow)
        written = b"%b%b%b%d\r\nDate: %b\r\n%b\r\n%b" % (
            begin,
            context.audit_id.encode(errors="surrogateescape"),
            middle,
            len(body),
            rfc822_formatted_time().encode(),
            b"" if self._keeps else _CLOSE,
            body,
        )
        writer: Any = request.writer
        must_wait: bool = writer.write_whole(written)
        return must_wait

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Write head and body, once."""
        if not self.is_written and self.write_to(request):
            await request.writer.drain()
        return None

    async def write_eof(self, _data: bytes = b"") -> None:
        """Nothing is left to write."""

    def force_close(self) -> None:
        self._keeps = False

    def changeable(self) -> web.Response:
        """The same as a web.Response, whose headers can be changed."""
        return responses.raw(self._context, self.bytes, status=self._code, content_type=self._of_type)


def can_answer(request: web.BaseRequest, context: RequestContext) -> bool:
    """Whether the usual head is enough for the response."""
    is_usual = request.version == HttpVersion11 and request.method != hdrs.METH_HEAD
    return is_usual and not (context.warnings.texts or context.fault)


@lru_cache(maxsize=256)  # a server has some 30 flows, and few statuses and types for each
def _lines(status: int, content_type: str, flow: Flow | None) -> tuple[bytes, bytes]:
    """What stands before the audit id, and between it and the length."""
    begin = b"HTTP/1.1 %d %b\r\nAudit-Id: " % (status, _PHRASES[status])
    return begin, b"%b%b\r\n%bContent-Length: " % (_CACHING, content_type.encode(), _flow_lines(flow))


def _flow_lines(flow: Flow | None) -> bytes:
    if flow is None:
        return b""
    return b"X-Kubernetes-Pf-Flowschema-Uid: %b\r\nX-Kubernetes-Pf-Prioritylevel-Uid: %b\r\n" % tuple(
        uid.encode() for uid in flow
    )
