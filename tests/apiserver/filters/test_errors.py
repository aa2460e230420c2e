import asyncio
import gc
import re
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web

from aio_apiserver.apiserver.filters import errors as errors_filter
from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.filters.request_info import with_request_info
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.storage.errors import Unavailable
from tests.apiserver.serving import LOOPBACK, ask, listening

MISSING = errors.NotFound(GroupResource("apps", "deployments"), "web")


async def fail(_request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
    raise MISSING


async def crash(_request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
    raise LookupError("secret detail")


async def miss_the_store(_request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
    raise Unavailable("no endpoint can be used")


async def fail_late(request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
    """Fails in the middle of its response."""
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    await response.write(b"half")
    raise MISSING


async def test_a_status_error_is_answered_with_its_status() -> None:
    async with listening(fail, with_errors) as listener:
        answer = await ask(listener.port, "/")

    assert (answer.status, answer.json) == (404, MISSING.status())
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-cache, private"
    assert "audit-id" in answer.headers


@pytest.mark.parametrize(
    ("target", "agent", "is_pretty"),
    [
        ("/", "kubectl/v1.36", False),
        ("/", "curl/8.0", True),
        ("/", "Wget/1.21", True),
        ("/", "Mozilla/5.0 (X11)", True),
        ("/", "xcurl/8", False),
        ("/?pretty=true", "", True),
        ("/?pretty=1", "", True),
        ("/?pretty=x", "", False),
        ("/?pretty=", "", False),
        ("/?pretty=false", "curl/8.0", False),
    ],
)
async def test_people_get_it_indented(target: str, agent: str, *, is_pretty: bool) -> None:
    async with listening(fail, with_request_info, with_errors) as listener:
        answer = await ask(listener.port, f"/x{target[1:]}", headers={"User-Agent": agent})

    start = '{\n  "kind": "Status",' if is_pretty else '{"kind":"Status",'
    assert answer.text.startswith(start)
    assert answer.text.endswith("}" if is_pretty else "}\n")


async def test_a_retry_after_goes_into_the_header() -> None:
    async def busy(_request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
        raise errors.TooManyRequests("busy", retry_after_seconds=7)

    async with listening(busy, with_errors) as listener:
        answer = await ask(listener.port, "/")

    assert (answer.status, answer.headers["retry-after"]) == (429, "7")
    assert answer.json["details"] == {"retryAfterSeconds": 7}


async def test_anything_else_is_a_500_that_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with listening(crash, with_errors) as listener:
        answer = await ask(listener.port, "/x", headers={"Audit-ID": "a-1"})

    assert (answer.status, answer.json["reason"]) == (500, "InternalError")
    assert "secret" not in answer.text
    assert "a-1" in answer.text
    (record,) = caplog.records
    assert "GET /x failed (audit id a-1)" in record.getMessage()
    assert record.exc_info is not None


async def test_a_store_that_cannot_be_reached_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async with listening(miss_the_store, with_request_info, with_errors) as listener:
        answer = await ask(listener.port, "/apis/apps/v1/namespaces/default/deployments/web")

    assert (answer.status, answer.json["reason"]) == (500, "ServerTimeout")
    assert answer.json["message"].startswith("The get operation against deployments.apps could not be completed")
    assert answer.json["details"]["retryAfterSeconds"] > 0
    assert not caplog.records


async def test_a_failure_behind_the_first_byte_cuts_the_connection() -> None:
    async with listening(fail_late, with_errors) as listener:
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readuntil(b"0\r\n\r\n")
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


class Local(set[int]):
    """A local variable of a handler."""


async def vanish(request: web.BaseRequest) -> None:
    assert request.transport is not None
    request.transport.abort()
    raise ConnectionResetError


async def write_on(request: web.BaseRequest) -> None:
    """Write more than the client reads."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b"x" * 100_000)


async def wait_for_the_end(_request: web.BaseRequest) -> None:
    """Wait until the connection cancels the request."""
    await asyncio.Event().wait()


@pytest.mark.parametrize("end", [vanish, write_on, wait_for_the_end])
async def test_a_client_that_left_leaves_no_cycle(end: Callable[[web.BaseRequest], Awaitable[None]]) -> None:
    """A cycle would keep the connection until a long garbage collection."""
    noted: list[weakref.ref[Local]] = []

    async def handle(request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
        local = Local()
        noted.append(weakref.ref(local))
        await end(request)
        raise LookupError

    gc.disable()
    try:
        async with listening(handle, with_errors) as listener:
            _, writer = await asyncio.open_connection(LOOPBACK, listener.port)
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            while not noted:  # noqa: ASYNC110 the handler tells it
                await asyncio.sleep(0)
            for _ in range(100):  # until nothing more can be written
                await asyncio.sleep(0)
            writer.transport.abort()
            while listener.open_connections:  # noqa: ASYNC110 the listener only counts
                await asyncio.sleep(0)
        assert noted[0]() is None
    finally:
        gc.enable()


async def test_clients_of_yaml_get_yaml() -> None:
    async with listening(fail, with_request_info, with_errors) as listener:
        answer = await ask(listener.port, "/x", headers={"Accept": "application/yaml"})

    assert answer.headers["content-type"] == "application/yaml"
    assert answer.text.startswith("apiVersion: v1\ncode: 404\ndetails:\n  group: apps\n")


@pytest.mark.parametrize("accept", ["text/html", "application/json;as=Table;v=v1;g=meta.k8s.io"])
async def test_an_error_is_never_hidden_behind_what_is_accepted(accept: str) -> None:
    async with listening(fail, with_request_info, with_errors) as listener:
        answer = await ask(listener.port, "/x", headers={"Accept": accept})

    assert (answer.status, answer.json) == (404, MISSING.status())
    assert answer.text.startswith('{\n  "kind": "Status",')


def test_the_header_names_the_filters_that_answer_errors_by_themselves() -> None:
    header, folder = errors_filter.__doc__ or "", Path(errors_filter.__file__).parent
    answering = {
        one.stem for one in folder.glob("*.py") if re.search(r"\bresponses\.\w+\(|\btoo_many\(", one.read_text())
    }

    named = set(re.findall(r"\w+", header.partition("Some filters do not raise: ")[2].partition("write their")[0])) - {
        "and"
    }

    assert named == answering - {"errors"}
