"""answer_parser: bounds what a server may send as the answer to one request of this server.

aiohttp's parser reads the answers of webhooks, issuers, kubelets, pods, services and aggregated servers. It limits the
lines of a head and their number. The limits here are for what can go on without end.

    part of an answer                 limit
    informational answers (1xx)       5, as in Go's net/http
    all heads of one answer           1 MiB, and 4,096 lines
    framing of chunks, and trailers   64 KiB more than 18 bytes for each byte of the body
    bytes behind the answer           none: they are not read, and the connection is closed

Must hold: an answer that was read stays valid, whatever comes behind it. No byte behind it is read as another answer.
A head that was read reaches the client, and a body that breaks off says so to its reader.
"""

from collections.abc import Sequence
from typing import Protocol

from aiohttp import ClientPayloadError, hdrs
from aiohttp.helpers import set_exception
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import HttpResponseParser, RawResponseMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader

LONGEST_HEAD = 1 << 20
_MOST_LINES = 4096
MOST_INFORMATIONAL = 5
_MOST_FRAMING = 64 * 1024
_FRAMING_OF_A_BYTE = 18
"""The framing that Go accepts for a chunk of one byte. `1`, two line ends and a short extension are less."""
_INFORMATIONAL = range(100, 200)
_SWITCHING = 101
_UNKNOWN = -1
_END_OF_CHUNKS = b"\r\n\r\n"

Messages = Sequence[tuple[RawResponseMessage, StreamReader]]
Fed = tuple[Messages, bool, bytes]
_TOO_LONG = "net/http: server response headers exceeded {most} {unit}; aborted"
_NOTHING: Fed = ((), False, b"")


class AnswerConnection(Protocol):
    """What the parser does with its connection."""

    def force_close(self) -> None:
        """Do not keep the connection for another request."""

    def break_off(self) -> None:
        """Close the connection now."""


class AnswerParser:
    """The parser of one answer, with the interface of aiohttp's parsers. `parser` is a fresh one of aiohttp."""

    __slots__ = (
        "_body",
        "_connection",
        "_framing",
        "_head",
        "_informational",
        "_is_chunked",
        "_lines",
        "_parser",
        "_to_come",
    )

    def __init__(self, parser: HttpResponseParser, connection: AnswerConnection) -> None:
        self._parser = parser
        self._connection = connection
        self._head = 0
        """Bytes of heads so far."""
        self._lines = 0
        """Their lines."""
        self._informational = 0
        self._body: StreamReader | None = None
        """The body of the answer, after its head."""
        self._is_chunked = False
        self._framing = 0
        """Bytes of framing beyond those that the body so far justifies."""
        self._to_come = _UNKNOWN
        """Bytes that the body still lacks, when Content-Length says so."""

    def feed_data(self, data: bytes) -> Fed:
        """Read bytes of the answer. Raises HttpProcessingError, and breaks the connection off, when they are no head
        or behind the answer.
        """
        body = self._body
        if body is not None and not body.is_eof():
            self._feed_body(body, data)
            return _NOTHING
        try:
            if body is None:
                return self._feed_head(data)
            if data:
                raise HttpProcessingError(message="Unsolicited response received on idle HTTP channel")
        except Exception:
            self._connection.break_off()
            raise
        return _NOTHING

    def feed_eof(self) -> RawResponseMessage | None:
        if self._body is not None and self._body.exception() is not None:
            return None
        return self._parser.feed_eof()

    def pause_reading(self) -> None:
        self._parser.pause_reading()

    def _feed_head(self, data: bytes) -> Fed:
        """Feed line by line, so that nothing behind a head is parsed before the head is known."""
        informational: list[tuple[RawResponseMessage, StreamReader]] = []
        start = 0
        while start < len(data):
            line = data[start : data.find(b"\n", start) + 1 or len(data)]
            start += len(line)
            self._count_head(len(line))
            messages, is_upgraded, tail = self._parser.feed_data(line)
            if is_upgraded:
                return messages, True, tail + data[start:]
            for message, body in messages:
                if message.code not in _INFORMATIONAL or message.code == _SWITCHING:
                    self._begin_body(message, body, data[start:])
                    return [*informational, (message, body)], False, b""
                informational.append((message, body))
                self._count_informational()
        return informational, False, b""

    def _count_head(self, size: int) -> None:
        self._head += size
        self._lines += 1
        if self._head > LONGEST_HEAD:
            raise HttpProcessingError(message=_TOO_LONG.format(most=LONGEST_HEAD, unit="bytes"))
        if self._lines > _MOST_LINES:
            raise HttpProcessingError(message=_TOO_LONG.format(most=_MOST_LINES, unit="lines"))

    def _count_informational(self) -> None:
        self._informational += 1
        if self._informational > MOST_INFORMATIONAL:
            raise HttpProcessingError(message="net/http: too many 1xx informational responses")

    def _begin_body(self, message: RawResponseMessage, body: StreamReader, data: bytes) -> None:
        self._body, self._is_chunked = body, message.chunked
        if not message.chunked and body is not EMPTY_PAYLOAD:
            self._to_come = int(message.headers.get(hdrs.CONTENT_LENGTH, _UNKNOWN))
        if not body.is_eof():
            self._feed_body(body, data)
        elif data:
            self._connection.force_close()

    def _feed_body(self, body: StreamReader, data: bytes) -> None:
        if body.exception() is not None:
            return
        data = self._without_surplus(data)
        before = body.total_raw_bytes
        try:
            behind, _, _ = self._parser.feed_data(data)
            if self._is_chunked and not body.is_eof():
                self._count_framing(len(data), body.total_raw_bytes - before)
        except HttpProcessingError as exc:
            self._connection.force_close()
            if not body.is_eof():
                set_exception(body, ClientPayloadError(str(exc)), exc)
                self._connection.break_off()
            return
        if self._is_chunked and body.is_eof():
            is_at_end = data.endswith(_END_OF_CHUNKS) or _END_OF_CHUNKS.endswith(data)
            if behind or not is_at_end:
                self._connection.force_close()

    def _without_surplus(self, data: bytes) -> bytes:
        """The data that belong to a body with Content-Length."""
        if self._to_come == _UNKNOWN:
            return data
        if len(data) > self._to_come:
            self._connection.force_close()
            data = data[: self._to_come]
        self._to_come -= len(data)
        return data

    def _count_framing(self, size: int, of_body: int) -> None:
        self._framing = max(0, self._framing + size - (1 + _FRAMING_OF_A_BYTE) * of_body)
        if self._framing > _MOST_FRAMING:
            raise HttpProcessingError(message="chunked encoding contains too much non-data")
