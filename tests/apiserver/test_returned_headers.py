"""Returned headers: which headers of pods, services and aggregated servers reach the client."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.handlers import reverse_proxy
from aio_apiserver.apiserver.outgoing.backends import Backends
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base.locations import Location, Passage
from tests.apiserver.serving import LOOPBACK, ask, exchange, listening
from tests.apiserver.test_forwarding import UPGRADE
from tests.attacks.hostile_answers import HostileAnswer
from tests.stream_servers import talking

OF_THE_ORIGIN = (
    "Accept-CH",
    "Alt-Svc",
    "Clear-Site-Data",
    "NEL",
    "Origin-Agent-Cluster",
    "Public-Key-Pins",
    "Report-To",
    "Reporting-Endpoints",
    "Service-Worker-Allowed",
    "Strict-Transport-Security",
)
OF_THE_CONNECTION = ("Keep-Alive", "Proxy-Authenticate", "Trailer", "X-Hop")
OF_THE_SESSION = ("Set-Cookie", "WWW-Authenticate")
OF_THE_APPLICATION = ("ETag", "X-Custom", "Warning", "Access-Control-Allow-Origin")


def answer(status: str, *names: str) -> HostileAnswer:
    """A short answer with these headers, and an Audit-Id."""
    fields = "".join(f"{name}: backend\r\n" for name in (*names, "Audit-Id"))
    connection = "Upgrade, X-Hop" if status.startswith("101") else "X-Hop"
    body = "" if status.startswith("101") else "Content-Length: 4\r\n"
    return HostileAnswer(
        f"HTTP/1.1 {status}\r\nConnection: {connection}\r\nUpgrade: websocket\r\n{body}{fields}\r\nbody".encode()
    )


@asynccontextmanager
async def relaying(directory: Path, hostile: HostileAnswer, **settings: Any) -> AsyncIterator[int]:
    """A port whose requests are relayed to a server that answers so."""
    backends = Backends(Settings(data_dir=directory, **settings))

    async def relay(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        location = Location(passage=Passage.PROXY, scheme="http", host=LOOPBACK, port=str(port), path="/a")
        return await reverse_proxy.send(request, context, location, backends)

    try:
        async with talking(hostile.send) as port, listening(relay, with_errors) as listener:
            yield listener.port
    finally:
        await backends.close()


@pytest.mark.parametrize("upgrade", [{}, UPGRADE], ids=["request", "refused upgrade"])
@pytest.mark.parametrize(("console", "session"), [(False, OF_THE_SESSION), (True, ())], ids=["alone", "console"])
async def test_what_a_backend_says_of_the_origin_stays_here(
    tmp_path: Path, upgrade: dict[str, str], console: bool, session: tuple[str, ...]
) -> None:
    sent = (*OF_THE_ORIGIN, *OF_THE_CONNECTION, *OF_THE_SESSION, *OF_THE_APPLICATION)

    async with relaying(tmp_path, answer("418 I'm a Teapot", *sent), ui=console) as port:
        received = await ask(port, "/proxy/a", headers=upgrade)

    assert (received.status, received.body) == (418, b"body")
    returned = [name for name in sent if received.headers.get(name.lower()) == "backend"]
    assert sorted(returned) == sorted((*session, *OF_THE_APPLICATION))
    assert received.headers["audit-id"] != "backend"


async def test_an_agreed_upgrade_says_nothing_of_the_origin(tmp_path: Path) -> None:
    hostile = answer("101 Switching Protocols", *OF_THE_ORIGIN, *OF_THE_SESSION, "Sec-WebSocket-Accept")
    head = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "localhost", **UPGRADE}.items())

    async with relaying(tmp_path, hostile, ui=True) as port:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(f"GET /proxy/a HTTP/1.1\r\n{head}\r\n".encode())
        received = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        stream = await reader.readexactly(4)
        writer.close()
        await writer.wait_closed()

    lines = dict(line.split(": ", 1) for line in received.split("\r\n")[1:] if line)
    assert received.startswith("http/1.1 101")
    assert (lines["connection"], lines["upgrade"], lines["sec-websocket-accept"]) == ("upgrade", "websocket", "backend")
    assert not lines.keys() & {name.lower() for name in (*OF_THE_ORIGIN, *OF_THE_SESSION)}
    assert lines["audit-id"] != "backend"
    assert stream == b"body"


async def test_pages_of_backends_have_an_origin_of_their_own_beside_the_console(tmp_path: Path) -> None:
    policies = []
    for console in (False, True):
        async with relaying(tmp_path, answer("200 OK"), ui=console) as port:
            policies.append((await ask(port, "/proxy/a")).headers.get("content-security-policy"))

    assert policies == [None, "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts"]


@pytest.mark.parametrize("upgrade", [{}, UPGRADE], ids=["request", "upgrade"])
@pytest.mark.parametrize("status", ["000", "042"])
async def test_a_status_that_http_lacks_is_a_bad_gateway(tmp_path: Path, upgrade: dict[str, str], status: str) -> None:
    async with relaying(tmp_path, answer(f"{status} OK")) as port:
        received = await ask(port, "/proxy/a", headers=upgrade)

    assert (received.status, received.json["code"]) == (502, 502)
    assert received.json["message"] == f"the backend answered with {status}, which is no status of HTTP"


@pytest.mark.parametrize(
    "beginning",
    [
        b"HTTP/1.1 \xb2\xb2\xb2 OK\r\n\r\n",
        b"HTTP/1.1 " + b"9" * 5000 + b" OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nX: a\nSet-Cookie b\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nX: a\0b\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nX Y: a\r\n\r\n",
        b"\r\n\r\n",
    ],
)
async def test_an_upgrade_that_is_answered_with_no_http_has_failed(tmp_path: Path, beginning: bytes) -> None:
    async with relaying(tmp_path, HostileAnswer(beginning)) as port:
        received = await ask(port, "/proxy/a", headers=UPGRADE)

    assert (received.status, received.json["message"]) == (500, "error dialing backend: malformed HTTP response")


@pytest.mark.parametrize("target", ["http://[", "//[::1", "http://a:b:c/", "\xe9", "/x\xe9"])
async def test_a_redirect_to_no_url_is_passed_on(tmp_path: Path, target: str) -> None:
    head = f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"

    async with relaying(tmp_path, HostileAnswer(head.encode("latin-1"))) as port:
        received = await ask(port, "/proxy/a")

    assert received.status == 302


async def test_bytes_that_are_no_utf_8_do_not_fail_the_request(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 \xff\xfe\r\nX-Odd: a\xff\xfe\r\nContent-Length: 4\r\n\r\nbody"
    request = b"GET /proxy/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    async with relaying(tmp_path, HostileAnswer(head)) as port:
        (received,) = await exchange(port, request)

    assert (received.status, received.headers["x-odd"], received.body) == (200, "a", b"body")
