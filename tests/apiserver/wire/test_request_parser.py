import asyncio
from collections.abc import Sequence

import pytest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_exceptions import BadHttpMethod
from aiohttp.http_parser import HttpRequestParser

from aio_apiserver.apiserver.wire.request_parser import AnyMethodParser, RequestParser

GET = b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
FOO = b"FOO /b HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"
CHUNKED = b"POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


def methods(*pieces: bytes) -> Sequence[str]:
    """The requests that a connection reads from these pieces."""
    loop = asyncio.get_running_loop()
    protocol = BaseProtocol(loop, None)
    parser = RequestParser(
        lambda: HttpRequestParser(protocol, loop, 2**16), lambda: AnyMethodParser(protocol, loop, 2**16), lambda _: None
    )
    return [message.method for piece in pieces for message, _ in parser.feed_data(piece)[0]]


@pytest.mark.parametrize(
    ("pieces", "read"),
    [
        ([FOO], ["FOO"]),
        ([b"get /a HTTP/1.1\r\nHost: a\r\n\r\n"], ["get"]),
        ([GET, FOO, GET], ["GET", "FOO", "GET"]),
        ([POST + b"body", FOO], ["POST", "FOO"]),
        ([POST, b"bo", b"dy", FOO], ["POST", "FOO"]),
        ([POST, b"body" + FOO], ["POST", "FOO"]),
        ([POST + b"\r\n\r\n", FOO], ["POST", "FOO"]),
        ([POST + b"body" + POST[:20], POST[20:] + b"body"], ["POST", "POST"]),
        ([POST, b"bo", b"dy" + POST, b"body", FOO], ["POST", "POST", "FOO"]),
        ([GET + FOO], ["GET", "FOO"]),
        ([FOO[:9], FOO[9:]], ["FOO"]),
    ],
)
async def test_any_method_is_read_where_a_request_begins(pieces: Sequence[bytes], read: Sequence[str]) -> None:
    assert methods(*pieces) == read


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([CHUNKED, b"0\r\n\r\n", FOO], id="behind a body of chunks"),
        pytest.param([GET[:9], GET[9:] + FOO], id="behind a request in pieces"),
        pytest.param([GET + GET, FOO], id="behind requests that came together"),
        pytest.param([POST + b"body" + GET[:9], GET[9:] + FOO], id="behind a body and the beginning of a request"),
        pytest.param([POST[:-2], POST[-2:] + b"bodyG", FOO], id="behind a head in pieces and one byte of a request"),
    ],
)
async def test_an_unknown_method_is_refused_where_a_request_may_still_go_on(pieces: Sequence[bytes]) -> None:
    with pytest.raises(BadHttpMethod):
        methods(*pieces)
