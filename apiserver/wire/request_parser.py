"""Request parser: parses requests of any method. aiohttp's parser in C knows a fixed list of methods; its parser in
Python takes any.

A parser emits some requests, and keeps the bytes behind them until these are taken.

Must hold: bytes of one request, above all of its body, are not read as another request. So the parsers change places
where a request certainly ends. In other places, a request that the parser in C refuses stays refused.
"""

from collections.abc import Callable, Sequence

from aiohttp import hdrs
from aiohttp.http_exceptions import BadHttpMethod, LineTooLong
from aiohttp.http_parser import HttpRequestParser, HttpRequestParserPy, RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader

_END_OF_HEAD = b"\r\n\r\n"
_UNKNOWN = -1
LONGEST_HEAD = 1 << 20
"""The limit in bytes, as in Go's net/http."""

Fed = tuple[Sequence[tuple[RawRequestMessage, StreamReader]], bool, bytes]


class AnyMethodParser(HttpRequestParserPy):
    """Keeps the case of methods: `get` is not `GET`.

    It accepts extensions of chunks that Go refuses, so the connection is closed behind a body of chunks.
    """

    def parse_message(self, lines: list[bytes]) -> RawRequestMessage:
        method = lines[0].partition(b" ")[0].decode("ascii", "replace")
        message = super().parse_message(lines)
        return message._replace(method=method, should_close=message.should_close or message.chunked)


class RequestParser:
    """The parser that a connection feeds with bytes, with the interface of aiohttp's parsers."""

    __slots__ = ("_any_method", "_body", "_body_to_come", "_head", "_parser", "message_consumed")

    def __init__(self, usual: HttpRequestParser, any_method: Callable[[], AnyMethodParser]) -> None:
        self._parser: HttpRequestParser = usual
        self.message_consumed = usual.message_consumed
        self._any_method = any_method
        self._body: StreamReader = EMPTY_PAYLOAD
        self._head = 0
        """Bytes of the present head so far. aiohttp's parsers limit each line, but not their sum."""
        self._body_to_come = 0
        """Bytes that the present request still lacks; 0 between requests; `_UNKNOWN` when that is not certain."""

    def feed_data(self, data: bytes) -> Fed:
        if 0 < self._body_to_come < len(data):
            return self._feed_in_parts(data)
        try:
            fed: Fed = self._parser.feed_data(data)
        except BadHttpMethod:
            if self._body_to_come or not data:
                raise
            self._parser, self._body_to_come = self._any_method(), _UNKNOWN
            self.message_consumed = self._parser.message_consumed
            return self._parser.feed_data(data)
        begun = fed[0]
        if len(begun) != 1 or self._body_to_come:
            return self._noted(data, fed) if begun or data else fed
        message, body = begun[0]
        is_whole = _is_one_head(data) if body is EMPTY_PAYLOAD else _ends_with(data, body)
        if not is_whole or self._head or message.upgrade or message.chunked:
            return self._noted(data, fed)
        self._body, self._head = EMPTY_PAYLOAD, 0  # the usual case: one request with its whole body
        return fed

    def _feed_in_parts(self, data: bytes) -> Fed:
        """Feed the rest of a body alone, since the response to its request may come before the body was read."""
        end = self._body_to_come
        before, _, _ = self.feed_data(data[:end])
        messages, is_upgraded, tail = self.feed_data(data[end:])
        return [*before, *messages], is_upgraded, tail

    def _noted(self, data: bytes, fed: Fed) -> Fed:
        is_torn = bool(self._head) and data[:1] in (b"\r", b"\n")
        self._check_head(data, fed[0])
        if data and self._body_to_come != _UNKNOWN:
            # When the end of a head is torn apart, the first end of a head in these data may be that of another one.
            self._body_to_come = _UNKNOWN if is_torn and fed[0] else _body_after(data, fed[0], self._body_to_come)
        return _without_lost_bytes(fed)

    def _check_head(self, data: bytes, begun: Sequence[tuple[RawRequestMessage, StreamReader]]) -> None:
        """Count the bytes of an incomplete head. Raises LineTooLong."""
        if begun:
            self._body, self._head = begun[-1][1], 0
        elif self._body.is_eof():
            self._head += len(data)
            if self._head > LONGEST_HEAD:
                raise LineTooLong(b"", LONGEST_HEAD)

    def set_upgraded(self, is_upgraded: bool) -> None:
        self._parser.set_upgraded(is_upgraded)

    def pause_reading(self) -> None:
        self._parser.pause_reading()


def _is_one_head(data: bytes) -> bool:
    """Whether data are the head of one request, or the end of it. The parser may have kept what is behind that."""
    return data.endswith(_END_OF_HEAD) and data.find(_END_OF_HEAD) == len(data) - len(_END_OF_HEAD)


def _ends_with(data: bytes, body: StreamReader) -> bool:
    """Whether data in which a request begins end where its body does."""
    return body.is_eof() and data.find(_END_OF_HEAD) + len(_END_OF_HEAD) + body.total_bytes == len(data)


def _without_lost_bytes(fed: Fed) -> Fed:
    """Close the connection behind a request for an upgrade that aiohttp does not know, such as h2c: the parser in C
    loses the bytes that came together with it, and would read a later body as a request.
    """
    messages, is_upgraded, tail = fed
    if is_upgraded or not [True for message, _ in messages if message.upgrade]:
        return fed
    closing = [(one._replace(should_close=True) if one.upgrade else one, body) for one, body in messages]
    return closing, is_upgraded, tail


def _body_after(data: bytes, begun: Sequence[tuple[RawRequestMessage, StreamReader]], to_come: int) -> int:
    """The bytes that are still missing after these data. It is known inside a body, and for one request that begins
    here.
    """
    if to_come:
        return to_come - len(data) if not begun else _UNKNOWN
    if len(begun) == 1 and begun[0][1] is EMPTY_PAYLOAD and _is_one_head(data):
        return 0
    end = data.find(_END_OF_HEAD)
    if len(begun) != 1 or end < 0:
        return _UNKNOWN
    message = begun[0][0]
    if message.chunked or message.upgrade:
        return _UNKNOWN
    length = int(message.headers.get(hdrs.CONTENT_LENGTH, 0))
    return max(length - (len(data) - end - len(_END_OF_HEAD)), _UNKNOWN)
