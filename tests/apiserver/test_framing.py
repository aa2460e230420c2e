"""Framing: refused methods, transfer encodings and heads, and the Server header."""

import asyncio
import ssl
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.http import SERVER_SOFTWARE

from aio_apiserver.apiserver.filters import entry
from aio_apiserver.apiserver.server import Server
from aio_apiserver.apiserver.wire import request_parser, responses
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.listeners import Listener
from aio_apiserver.base.clock import SystemClock
from tests.apiserver.handlers.test_connect import proxying, read_head
from tests.apiserver.serving import LOOPBACK, ask, exchange, listening, running, trusting
from tests.stream_servers import talking

EMPTY_CHUNK = b"0\r\n\r\n"
NEXT = b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n"


async def read_all(port: int, data: bytes) -> bytes:
    """All bytes until the server closes the connection."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        writer.write(data)
        return await reader.read()
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def greet(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    return responses.text(context, "hello")


@pytest.mark.parametrize("method", ["POST", "FOO"])
@pytest.mark.parametrize(
    "value", ["identity, chunked", "gzip, chunked", "chunked, chunked", "identity", "xchunked", "", "chunked;q=1"]
)
async def test_a_transfer_encoding_other_than_chunked_is_refused(method: str, value: str) -> None:
    """The class of request smuggling: no byte after such a request is read as another request."""
    head = f"{method} / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: {value}\r\n\r\n".encode()

    async with listening(greet) as listener:
        answer = await read_all(listener.port, head + EMPTY_CHUNK + NEXT)

    assert answer.split(b" ", 2)[1] in (b"501", b"400")
    assert answer.count(b"HTTP/1.") == 1


@pytest.mark.parametrize("method", ["POST", "FOO"])
async def test_several_transfer_encodings_are_refused(method: str) -> None:
    lines = "Transfer-Encoding: chunked\r\n" * 2

    async with listening(greet) as listener:
        answer = await read_all(
            listener.port, f"{method} / HTTP/1.1\r\nHost: a\r\n{lines}\r\n".encode() + EMPTY_CHUNK + NEXT
        )

    assert answer.split(b" ", 2)[1] in (b"501", b"400")
    assert answer.count(b"HTTP/1.") == 1


@pytest.mark.parametrize("method", ["POST", "FOO"])
async def test_chunks_are_read_in_any_spelling(method: str) -> None:
    lines = "Host: a\r\nConnection: close\r\nTransfer-Encoding: Chunked"

    async with listening(greet) as listener:
        (answer,) = await exchange(listener.port, f"{method} / HTTP/1.1\r\n{lines}\r\n\r\n".encode() + EMPTY_CHUNK)

    assert (answer.status, answer.text) == (200, "hello")


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/api/v1/namespaces", "/nothing"])
@pytest.mark.parametrize("behind", [b"", b"abc"])
async def test_connect_is_answered_and_the_connection_closed(tmp_path: Path, path: str, behind: bytes) -> None:
    data = f"CONNECT {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode() + behind

    async with running(tmp_path, authorization_mode=("AlwaysAllow",)) as server:
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=trusting(server))
        writer.write(data)
        answer = await reader.read()
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    assert answer.startswith(b"HTTP/1.1 405 ")
    assert b'"reason":"MethodNotAllowed"' in answer


async def test_http_2_is_not_spoken() -> None:
    """CVE-2023-44487, rapid reset: there are no streams to reset."""
    async with listening(greet) as listener:
        answer = await read_all(listener.port, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

    assert answer.count(b"HTTP/1.") == 1
    assert answer.split(b" ", 2)[1].startswith(b"4")


@pytest.mark.parametrize("before", [b"", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"])
async def test_a_head_is_read_as_far_as_go_reads_it(before: bytes) -> None:
    line = b"X-%d: " + b"a" * 60_000 + b"\r\n"
    lines = b"".join(line % number for number in range(request_parser.LONGEST_HEAD // 60_000 + 10))

    async with listening(greet) as listener:
        answer = await read_all(listener.port, before + b"GET / HTTP/1.1\r\nHost: a\r\n" + lines + b"\r\n")

    assert answer.count(b"431 Request Header Fields Too Large\r\n") == 1
    assert answer.count(b"hello") == bool(before)


async def test_a_user_may_have_hundreds_of_groups_in_headers() -> None:
    groups = {f"X-Remote-Group{number}": "g" for number in range(900)}

    async with listening(greet) as listener:
        answer = await ask(listener.port, "/", headers=groups)

    assert answer.status == 200


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost"])
async def test_a_connection_that_brings_no_request_is_closed(sent: bytes) -> None:
    begin = entry.with_context(greet, SystemClock())
    listener = await Listener.open(begin, LOOPBACK, 0, tls=None, head_seconds=0.5)  # the client sends before that
    try:
        answer = await read_all(listener.port, sent)
    finally:
        await listener.close(0.1)

    assert answer == b""


@pytest.mark.parametrize("head_seconds", [0.01, 60.0])
async def test_a_client_that_does_not_begin_its_handshake_is_closed(head_seconds: float) -> None:
    """At its time limit, or when the server stops."""
    begin, tls = entry.with_context(greet, SystemClock()), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    listener = await Listener.open(begin, LOOPBACK, 0, tls=tls, head_seconds=head_seconds)
    reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
    if head_seconds > 1:
        await listener.close(0.1)

    assert await reader.read() == b""

    writer.close()
    await listener.close(0.1)


async def test_clients_that_do_not_begin_their_handshake_hold_up_no_other(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        silent = [await asyncio.open_connection(LOOPBACK, server.secure.port) for _ in range(40)]
        answer = await ask(server.secure.port, "/readyz", tls=trusting(server))
        for _, writer in silent:
            writer.close()

    assert answer.status == 200


async def test_no_answer_names_the_software_of_the_server(tmp_path: Path) -> None:
    requests = (
        b"GET /healthz HTTP/1.1\r\n",
        b"GET /api/v1/namespaces HTTP/1.1\r\n",
        b"GET /api/v1/namespaces?watch=1 HTTP/1.1\r\n",
        b"HEAD /version HTTP/1.1\r\n",
        b"FOO /version HTTP/1.1\r\n",
        b"hello\r\n",
        b"CONNECT /healthz HTTP/1.1\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: x, chunked\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n",
    )
    async with running(tmp_path, authorization_mode=("AlwaysAllow",)) as server:
        heads = [await head_of(server, one + b"Host: a\r\n\r\n") for one in requests]

    assert [head for head in heads if "\r\nServer:" in head or "aiohttp" in head or "Python" in head] == []
    assert all(head.startswith("HTTP/1.") for head in heads)


async def head_of(server: Server, request: bytes) -> str:
    reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=trusting(server))
    try:
        writer.write(request)
        return await read_head(reader)
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def test_the_server_header_of_a_backend_goes_through(tmp_path: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nServer: own\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with talking(talk) as backend, proxying(tmp_path, backend, "/a") as port:
        answer = await ask(port, "/proxy/a")

    assert answer.headers["server"] == "own"
    assert answer.headers["server"] != SERVER_SOFTWARE


async def refuse(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    return responses.text(context, "no", status=403)


@pytest.mark.parametrize(
    ("lines", "sent", "is_last"),
    [
        ("Content-Length: 10", b"0123456789", False),
        ("Content-Length: 200000", b"x" * 200_000, False),
        ("Content-Length: 3000000", b"x" * 100_000, True),
        ("Content-Length: 10\r\nExpect: 100-continue", b"", True),
        ("Transfer-Encoding: chunked", b"3\r\nabc\r\n", True),
    ],
)
async def test_a_response_says_whether_the_connection_ends_with_a_body_that_is_not_read(
    lines: str, sent: bytes, is_last: bool
) -> None:
    head = f"POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n".encode()

    async with listening(refuse) as listener:
        (answer,) = await exchange(listener.port, head + sent)

    assert answer.status == 403
    assert (answer.headers.get("connection") == "close") is is_last


async def test_the_next_request_is_answered_behind_a_body_that_was_not_read() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n"

    async with listening(refuse) as listener:
        answers = await exchange(listener.port, head + b"x" * 200_000 + NEXT, answers=2)

    assert [answer.status for answer in answers] == [403, 403]


async def test_a_client_reads_the_refusal_of_a_head_while_it_still_sends() -> None:
    async with listening(greet) as listener:
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(b"GET / HTTP/1.1\r\nno colon\r\n\r\n" + b"x" * 1_000_000)
        await writer.drain()
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()

    assert answer.split(b" ", 2)[1] == b"400"
