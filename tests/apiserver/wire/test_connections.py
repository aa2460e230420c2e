import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext
from tests.apiserver.serving import LOOPBACK, exchange, listening, read_answer, running, trusting

LINE = b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET //healthz", 404),
        (b"GET /healthz/../version", 404),
        (b"GET /./healthz", 404),
        (b"GET /%68ealthz", 200),
        (b"GET /healthz%2F", 404),
        (b"GET /a%zz", 400),
        (b"GET /%", 400),
        (b"GET /%00", 404),
        (b"GET http://localhost/healthz", 200),
        (b"OPTIONS *", 400),
        (b"CONNECT localhost:80", 400),
        (b"FOO /version", 405),
        (b"get /version", 405),
        (b"PROPFIND /version", 405),
        (b"TRACE /version", 405),
        (b"GET /\xff\xfe", 400),
        (b"GET /" + b"a" * 200_000, 431),
        (b"GET /" + b"a" * 100_000, 404),
        (b"hello", 405),
    ],
)
async def test_odd_requests_get_an_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, request_line: bytes, status: int
) -> None:
    async with running(tmp_path, authorization_mode=("AlwaysAllow",)) as server:
        (answer,) = await exchange(server.secure.port, request_line + LINE, tls=trusting(server))

    assert answer.status == status
    assert not [record for record in caplog.records if record.exc_info]


async def test_requests_may_be_pipelined(tmp_path: Path) -> None:
    data = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" + b"GET /readyz" + LINE

    async with running(tmp_path) as server:
        answers = await exchange(server.secure.port, data, tls=trusting(server), answers=2)

    assert [answer.text for answer in answers] == ["ok", "ok"]


async def test_a_method_that_does_not_exist_is_refused_as_a_status(tmp_path: Path) -> None:
    async with running(tmp_path, authorization_mode=("AlwaysAllow",)) as server:
        (answer,) = await exchange(server.secure.port, b"FOO /version" + LINE, tls=trusting(server))

    assert answer.json["reason"] == "MethodNotAllowed"
    assert answer.headers["content-type"].startswith("application/json")


async def test_a_method_that_does_not_exist_is_forbidden_to_who_may_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        (answer,) = await exchange(server.secure.port, b"FOO /version" + LINE, tls=trusting(server))

    assert 'cannot foo path "/version"' in answer.json["message"]


async def test_a_method_that_does_not_exist_is_read_behind_a_body(tmp_path: Path) -> None:
    data = b"POST /version HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}" + b"FOO /version" + LINE

    async with running(tmp_path, authorization_mode=("AlwaysAllow",)) as server:
        answers = await exchange(server.secure.port, data, tls=trusting(server), answers=2)

    assert [answer.status for answer in answers] == [405, 405]


@pytest.mark.parametrize("first", ["GET", "POST"])
async def test_requests_that_wait_on_a_connection_are_parsed_when_it_is_their_turn(first: str) -> None:
    """Also behind a body that came later than its head, which aiohttp's parser counts otherwise."""
    asked, may_answer, queued = asyncio.Event(), asyncio.Event(), list[int]()

    async def wait(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        asked.set()
        await request.read()
        await may_answer.wait()
        queued.append(len(request.protocol._messages))
        return responses.text(context, request.raw_path)

    async with listening(wait) as listener:
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(f"{first} /0 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n".encode())
        await asked.wait()
        writer.write(b"body")
        writer.write(b"".join(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % number for number in range(1, 50)))
        await writer.drain()
        may_answer.set()
        answers = [await read_answer(reader) for _ in range(50)]
        writer.close()
        await writer.wait_closed()

    assert [answer.text for answer in answers] == [f"/{number}" for number in range(50)]
    assert max(queued) <= 3
