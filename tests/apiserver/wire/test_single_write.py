"""The bytes on the connection: the usual response equals aiohttp's own response."""

import asyncio

import pytest
from aiohttp import web

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.client_warnings import Warnings
from aio_apiserver.apiserver.wire.connections import RequestHandler
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.single_write import SingleWriteResponse, can_answer
from aio_apiserver.registry.groups.flowcontrol.classification import Flow
from tests.apiserver.serving import LOOPBACK, connecting

BODY = b'{"kind":"Pod"}\n'
KEPT = "GET / HTTP/1.1\r\nHost: here\r\n\r\n"
CLOSED = "GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"
FLOW = Flow("schema-uid", "level-uid")


def context(*, flow: Flow | None = None, warning: str = "", audit_id: str = "an id") -> RequestContext:
    warnings = Warnings()
    warnings.add(warning)
    return RequestContext(audit_id, 0.0, warnings, flow=flow)


async def told(handler: RequestHandler, request: str) -> bytes:
    """The response of a server on a real socket, and whether it closes the connection."""
    async with connecting(handler) as listener:
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(request.encode())
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(len(BODY))
        if b"Connection: close" in head:
            assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
    return head + body


def lines(answer: bytes) -> dict[str, str]:
    """The lines of a head without server and date, and the bytes around it."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *fields = head.decode().split("\r\n")
    named = dict(field.split(": ", 1) for field in fields)
    assert named.pop("Date").endswith(" GMT")
    named.pop("Server", None)
    return {"": status, **named, "body": body.decode()}


@pytest.mark.parametrize("flow", [None, FLOW])
@pytest.mark.parametrize("request_head", [KEPT, CLOSED])
@pytest.mark.parametrize("status", [200, 201])
async def test_an_answer_is_written_as_a_response_would_be(flow: Flow | None, request_head: str, status: int) -> None:
    async def short(_request: web.BaseRequest) -> web.StreamResponse:
        return SingleWriteResponse(context(flow=flow), BODY, status=status, content_type=responses.JSON)

    async def usual(_request: web.BaseRequest) -> web.StreamResponse:
        return responses.raw(context(flow=flow), BODY, status=status)

    assert lines(await told(short, request_head)) == lines(await told(usual, request_head))


async def test_an_answer_can_be_made_the_last_of_its_connection() -> None:
    async def last(_request: web.BaseRequest) -> web.StreamResponse:
        answer = SingleWriteResponse(context(), BODY, status=200, content_type=responses.JSON)
        answer.force_close()
        return answer

    assert lines(await told(last, KEPT))["Connection"] == "close"


async def test_an_answer_is_written_once_however_often_it_is_asked_for() -> None:
    async def eager(request: web.BaseRequest) -> web.StreamResponse:
        answer = SingleWriteResponse(context(), BODY, status=200, content_type=responses.JSON)
        await answer.prepare(request)
        await answer.write_eof()
        assert (answer.prepared, answer.status, answer.reason, repr(answer)) == (True, 200, "OK", "<Answer 200>")
        return answer

    assert (await told(eager, CLOSED)).count(BODY) == 1


async def test_an_audit_id_comes_back_as_the_client_wrote_it() -> None:
    async def echoing(request: web.BaseRequest) -> web.StreamResponse:
        named = context(audit_id=request.headers["Audit-ID"])
        return SingleWriteResponse(named, BODY, status=200, content_type=responses.JSON)

    answer = await told(echoing, "GET / HTTP/1.1\r\nHost: here\r\nAudit-ID: käse\r\nConnection: close\r\n\r\n")

    assert "Audit-Id: käse\r\n".encode() in answer


@pytest.mark.parametrize(
    ("head", "warning", "expected"),
    [
        (KEPT, "", True),
        (KEPT, "deprecated", False),
        ("GET / HTTP/1.0\r\n\r\n", "", False),
        ("HEAD / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n", "", False),
    ],
)
async def test_only_what_needs_no_other_head_is_answered_so(head: str, warning: str, expected: bool) -> None:
    seen: asyncio.Queue[bool] = asyncio.Queue()

    async def asking(request: web.BaseRequest) -> web.StreamResponse:
        seen.put_nowait(can_answer(request, context(warning=warning)))
        response = responses.raw(context(), BODY)
        response.force_close()
        return response

    async with connecting(asking) as listener:
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(head.encode())
        await reader.read()
        writer.close()
        await writer.wait_closed()

    assert seen.get_nowait() is expected
