"""Request parser: parses requests of any method. aiohttp's parser in C knows a fixed list of methods; its parser in
Python takes any.

A parser emits some requests, and keeps the bytes behind them until these are taken. It reports the memory of long
heads.

Must hold: bytes of one request, above all of its body, are not read as another request. So the parsers change places
where a request certainly ends. In other places, a request that the parser in C refuses stays refused.
"""

from collections.abc import Callable, Sequence
from typing import cast

from aiohttp import hdrs
from aiohttp.http_exceptions import BadHttpMethod, LineTooLong
from aiohttp.http_parser import HttpRequestParser, HttpRequestParserPy, RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader

from aio_apiserver.apiserver.wire.heads import LONG_BYTES, LongHead, long_head_bytes, memory_of

_END_OF_HEAD = b"\r\n\r\n"
_UNKNOWN = -1
LONGEST_HEAD = 1 << 20
"""The limit in bytes, as in Go's net/http."""
_USUAL_FIELDS, _USUAL_BYTES = 20, 4096
"""A head within both is no long one, whatever it has."""

Messages = Sequence[tuple[RawRequestMessage, StreamReader]]
Fed = tuple[Messages, bool, bytes]


class AnyMethodParser(HttpRequestParserPy):
    """Keeps the case of methods: `get` is not `GET`.

    It accepts extensions of chunks that Go refuses, so the connection is closed behind a body of chunks.
    """

    def parse_message(self, lines: list[bytes]) -> RawRequestMessage:
        method = lines[0].partition(b" ")[0].decode("ascii", "replace")
        message = super().parse_message(lines)
        return message._replace(method=method, should_close=message.should_close or message.chunked)


class _EndedParser:
    """Takes the place of the parser of a connection that is to close. It reads nothing, and holds no head."""

    def __init__(self, refusal: LineTooLong | None = None) -> None:
        self._refusal = refusal

    def feed_data(self, _data: bytes) -> Fed:
        if self._refusal is not None:
            raise self._refusal
        return (), False, b""

    def message_consumed(self) -> None:
        """No request waits."""

    def set_upgraded(self, is_upgraded: bool) -> None:
        """It follows no upgrade."""

    def pause_reading(self) -> None:
        """It reads no body."""


class RequestParser:
    """The parser that a connection feeds with bytes, with the interface of aiohttp's parsers."""

    __slots__ = (
        "_any_method",
        "_body",
        "_body_to_come",
        "_change_head_bytes",
        "_counted",
        "_head",
        "_lines",
        "_long_head",
        "_parser",
        "_usual",
        "message_consumed",
    )

    def __init__(
        self,
        usual: Callable[[], HttpRequestParser],
        any_method: Callable[[], AnyMethodParser],
        change_head_bytes: Callable[[int], None],
    ) -> None:
        self._usual = usual
        self._parser: HttpRequestParser | _EndedParser = usual()
        self._change_head_bytes = change_head_bytes
        """Called with the memory that long heads take more, or less. Emitted heads count until the connection says
        otherwise.
        """
        self.message_consumed = self._parser.message_consumed
        self._any_method = any_method
        self._body: StreamReader = EMPTY_PAYLOAD
        self._head = 0
        """Bytes of the present head so far. aiohttp's parsers limit each line, but not their sum."""
        self._lines = 0
        """Lines of the present head so far."""
        self._counted = 0
        """The memory of the present head, as it was reported."""
        self._long_head: LongHead | None = None
        """The latest request, if its head is long. The parser has a copy of the head until the next one begins."""
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
            self._replace(self._any_method())
            self._body_to_come = _UNKNOWN
            return self._noted(data, self._parser.feed_data(data))
        begun = fed[0]
        if len(begun) != 1 or self._body_to_come:
            return self._noted(data, fed) if begun or data else fed
        message, body = begun[0]
        is_whole = _is_one_head(data) if body is EMPTY_PAYLOAD else _ends_with(data, body)
        is_short = len(message.raw_headers) <= _USUAL_FIELDS and len(data) - body.total_bytes <= _USUAL_BYTES
        if not is_whole or self._head or message.upgrade or message.chunked or not is_short:
            return self._noted(data, fed)
        # the usual case: one request with its whole body
        self._body, self._head, self._long_head = EMPTY_PAYLOAD, 0, None
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
        messages, is_upgraded, tail = _without_lost_bytes(fed)
        return (self._counted_heads(messages) if messages else messages), is_upgraded, tail

    def _counted_heads(self, messages: Messages) -> Messages:
        """Report the memory of long heads. Their connections close where it is not certain that this parser can forget
        them.
        """
        is_certain = self._body_to_come != _UNKNOWN
        return [(self._counted_head(message, is_certain=is_certain), body) for message, body in messages]

    def _counted_head(self, message: RawRequestMessage, *, is_certain: bool) -> RawRequestMessage:
        size = long_head_bytes(message)
        if not size:
            self._long_head = None
            return message
        self._change_head_bytes(size)
        self._long_head = LongHead(message, size, should_close=message.should_close or not is_certain)
        return cast("RawRequestMessage", self._long_head)  # aiohttp's server reads its attributes alone

    def _check_head(self, data: bytes, begun: Messages) -> None:
        """Count the bytes of an incomplete head, and the memory of long ones. Raises LineTooLong."""
        if begun:
            self._body, self._head, self._lines = begun[-1][1], 0, 0
        elif self._body.is_eof():
            self._long_head = None
            self._head += len(data)
            self._lines += data.count(b"\n")
            if self._head > LONGEST_HEAD:
                raise LineTooLong(b"", LONGEST_HEAD)
        present = memory_of(self._lines, self._head)
        counted = present if present > LONG_BYTES else 0
        change, self._counted = counted - self._counted, counted
        if change:
            self._change_head_bytes(change)

    def forget_head(self, head: object) -> None:
        """The response to a request with a long head has been written: free the parser's copy. Where the end of the
        request is not certain, its connection is to close, and no more is read.
        """
        if head is self._long_head:
            self._replace(_EndedParser() if self._body_to_come else self._usual())
            self._long_head = None

    def refuse(self) -> None:
        """Forget the present head, and refuse it as one that is too long."""
        self._replace(_EndedParser(LineTooLong(b"", LONGEST_HEAD)))

    def _replace(self, parser: HttpRequestParser | _EndedParser) -> None:
        self._parser, self.message_consumed = parser, parser.message_consumed

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


def _body_after(data: bytes, begun: Messages, to_come: int) -> int:
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
