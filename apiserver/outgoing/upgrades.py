"""upgrades: the HTTP/1.1 exchange that asks a backend to upgrade its connection to SPDY or WebSocket.

    GET /exec/default/web/main?command=sh HTTP/1.1       head()
    HTTP/1.1 101 Switching Protocols                     read_answer()

It opens and closes no connection. Must hold: the headers that leave the process are those of forwarded_headers.py.
No value of a header begins another header, in the request and in the answer. The head of an answer has a limit of
bytes and of time.
"""

import asyncio

from aiohttp import hdrs, web
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import HttpResponseParser
from msgspec import Struct
from multidict import CIMultiDict

from aio_apiserver.apiserver.outgoing import forwarded_headers
from aio_apiserver.apiserver.outgoing.dialer import Streams
from aio_apiserver.apiserver.outgoing.forwarded_headers import Forwarding, Relay
from aio_apiserver.registry.base.locations import Location, Passage

_HEAD_SECONDS = 60.0
_LINE_LIMIT = 64 * 1024
_LARGEST_REFUSAL = 1024 * 1024
_REFUSAL_SECONDS = 10
_IN_ONE_LINE = str.maketrans("\r\n", "  ")
"""The name of a user may have line breaks, which would begin another header."""


class UpgradeAnswer(Struct, frozen=True):
    """The backend's answer. After a 101 the streams speak the new protocol."""

    status: int
    headers: CIMultiDict[str]
    streams: Streams

    async def refusal(self) -> bytes:
        """The body of a refusal, as far as it arrives within the time limit."""
        length, (reader, _) = self.headers.get(hdrs.CONTENT_LENGTH, ""), self.streams
        wanted = min(int(length), _LARGEST_REFUSAL) if length.isdigit() else _LARGEST_REFUSAL
        body = bytearray()
        try:
            async with asyncio.timeout(_REFUSAL_SECONDS):
                while len(body) < wanted and (chunk := await reader.read(wanted - len(body))):
                    body += chunk
        except TimeoutError:
            pass
        return bytes(body)


def head(request: web.BaseRequest, location: Location, rule: Forwarding) -> bytes:
    """The head of the client's request as the backend gets it."""
    url = forwarded_headers.url_of(location, request.raw_path.partition("?")[2])
    target = url.removeprefix(f"{location.scheme}://{location.authority}") or "/"
    relay = Relay.STREAM if location.passage is Passage.STREAM else Relay.UPGRADE
    headers = rule.headers_of(request, relay, added=location.headers)
    given = (f"{name}: {value.translate(_IN_ONE_LINE)}" for name, value in headers.items())
    lines = [f"{request.method} {target} HTTP/1.1", *given]
    return "\r\n".join([*lines, "", ""]).encode(errors="surrogateescape")


class MalformedAnswer(OSError):
    """The answer is not HTTP."""

    def __init__(self) -> None:
        super().__init__("malformed HTTP response")


async def read_answer(streams: Streams) -> UpgradeAnswer:
    """The head of the backend's answer. Raises OSError, IncompleteReadError, LimitOverrunError."""
    try:
        async with asyncio.timeout(_HEAD_SECONDS):
            text = await streams[0].readuntil(b"\r\n\r\n")
    except TimeoutError as exc:
        raise OSError("net/http: timeout awaiting response headers") from exc
    loop = asyncio.get_running_loop()
    parser = HttpResponseParser(
        BaseProtocol(loop),
        loop,
        0,
        max_line_size=_LINE_LIMIT,
        max_field_size=_LINE_LIMIT,
        response_with_body=False,
    )
    try:
        messages, _, _ = parser.feed_data(text)
    except HttpProcessingError as exc:
        raise MalformedAnswer from exc
    if len(messages) != 1:
        raise MalformedAnswer
    message = messages[0][0]
    return UpgradeAnswer(message.code, CIMultiDict(message.headers), streams)
