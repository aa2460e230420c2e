"""Forwarding: which headers of a client kubelets, pods and aggregated servers get."""

import asyncio
import base64
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import web

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.console.ended_sessions import EndedSessions
from aio_apiserver.apiserver.console.sessions import ConsoleSessions
from aio_apiserver.apiserver.handlers import reverse_proxy, tunnels
from aio_apiserver.apiserver.outgoing.backends import Backends
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base.locations import Location, Passage
from tests.apiserver.canaries import Canaries
from tests.apiserver.handlers.test_connect import POD, put_on_node, read_head, starting
from tests.apiserver.serving import LOOPBACK, ask, listening, trusting
from tests.apiserver.test_aggregation import GREETINGS, registered, send
from tests.storage.kv.certificates import Authority
from tests.stream_servers import talking

BEARER = "base64url.bearer.authorization.k8s.io."
KEY = base64.b64encode(bytes(16)).decode()
UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": KEY}
NAMED_BY_FLAGS: dict[str, Any] = {
    "requestheader_username_headers": ("X-Own-User",),
    "requestheader_uid_headers": ("X-Own-Uid",),
    "requestheader_group_headers": ("X-Own-Group",),
    "requestheader_extra_headers_prefix": ("X-Own-Extra-",),
}
NEVER = (
    "Authorization",
    "Proxy-Authorization",
    "Impersonate-User",
    "Impersonate-Extra-scopes",
    "X-Remote-User",
    "x-remote-group",
    "X_Remote_User",
    "X-Remote-Extra-a",
    *("X-Own-User", "X-Own-Uid", "X-Own-Group", "x-own-extra-a"),
    "Keep-Alive",
    "TE",
)
APPLICATION = ("Cookie", "X-Custom", "Accept", "If-None-Match", "X-Api-Key")


class Listening:
    """A backend that records request heads, and refuses each request."""

    def __init__(self) -> None:
        self.heads: list[str] = []

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await read_head(reader))
        writer.write(b"HTTP/1.1 418 I'm a Teapot\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()


@asynccontextmanager
async def relaying(directory: Path, passage: Passage, *added: tuple[str, str]) -> AsyncIterator[tuple[int, Listening]]:
    """A port whose requests are forwarded to a backend, as kubelet streams or as proxy requests, with added headers."""
    backends, backend = Backends(Settings(data_dir=directory, **NAMED_BY_FLAGS)), Listening()

    async def relay(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        location = Location(passage=passage, scheme="http", host=LOOPBACK, port=str(port), path="/a", headers=added)
        way = tunnels.stream if passage is Passage.STREAM else reverse_proxy.send
        return await way(request, context, location, backends)

    try:
        async with talking(backend.talk) as port, listening(relay) as listener:
            yield listener.port, backend
    finally:
        await backends.close()


def planted(canaries: Canaries, *names: str) -> dict[str, str]:
    return {name: canaries.text(name) for name in names}


def with_token(canaries: Canaries, *others: str) -> Mapping[str, str]:
    """A WebSocket header that offers a token between other subprotocols."""
    token = BEARER + canaries.text("token in a subprotocol")
    return {"Sec-WebSocket-Protocol": ", ".join((*others[:1], token, *others[1:]))}


@pytest.mark.parametrize(
    ("passage", "upgrade", "staying"),
    [
        (Passage.PROXY, {}, NEVER),
        (Passage.PROXY, UPGRADE, NEVER),
        (Passage.STREAM, UPGRADE, (*NEVER, *APPLICATION)),
    ],
    ids=["proxy", "upgraded proxy", "stream"],
)
async def test_credentials_and_headers_of_the_connection_stay_here(
    tmp_path: Path, passage: Passage, upgrade: dict[str, str], staying: tuple[str, ...]
) -> None:
    canaries = Canaries()
    connection = f"{upgrade.get('Connection', 'close')}, X-Hop, {canaries.text('value of Connection')}"
    given = {
        **upgrade,
        **planted(canaries, *staying, "X-Hop"),
        **with_token(canaries, "v5.channel.k8s.io", "v4.channel.k8s.io"),
        "Connection": connection,
    }
    target = f"http://{canaries.text('user of a URL')}:{canaries.text('password of a URL')}@localhost/proxy/a"

    async with relaying(tmp_path, passage) as (port, backend):
        answer = await ask(port, target, headers=given)

    (head,) = backend.heads
    assert answer.status == 418
    assert canaries.seen_in(head) == []
    assert "Sec-WebSocket-Protocol: v5.channel.k8s.io,v4.channel.k8s.io\r\n" in head
    assert ("Connection: Upgrade\r\n" in head) is bool(upgrade)


@pytest.mark.parametrize("upgrade", [{}, UPGRADE], ids=["request", "upgrade"])
async def test_headers_of_applications_go_through_proxies(tmp_path: Path, upgrade: dict[str, str]) -> None:
    canaries = Canaries()

    async with relaying(tmp_path, Passage.PROXY) as (port, backend):
        await ask(port, "/proxy/a", headers={**upgrade, **planted(canaries, *APPLICATION)})

    assert sorted(canaries.seen_in(backend.heads[0])) == sorted(APPLICATION)


@pytest.mark.parametrize("upgrade", [{}, UPGRADE], ids=["request", "upgrade"])
async def test_sessions_of_the_console_stay_here(tmp_path: Path, upgrade: dict[str, str]) -> None:
    (tmp_path / "ca.key").write_bytes(b"key")
    name = ConsoleSessions(tmp_path / "ca.key", cast("EndedSessions", None), time.time).cookie_name

    async with relaying(tmp_path, Passage.PROXY) as (port, backend):
        await ask(port, "/proxy/a", headers={**upgrade, "Cookie": f"theme=dark; {name}=secret; lang=en"})

    assert "Cookie: theme=dark; lang=en\r\n" in backend.heads[0]
    assert "secret" not in backend.heads[0]


async def test_the_name_of_a_user_adds_no_header_to_an_upgrade(tmp_path: Path) -> None:
    added = ("X-Remote-User", "jane\r\nX-Remote-Group: system:masters")

    async with relaying(tmp_path, Passage.PROXY, added) as (port, backend):
        await ask(port, "/proxy/a", headers=UPGRADE)

    assert "X-Remote-User: jane  X-Remote-Group: system:masters\r\n" in backend.heads[0]


async def test_a_stream_keeps_what_its_protocol_needs(tmp_path: Path) -> None:
    given = {**UPGRADE, "X-Stream-Protocol-Version": "v4.channel.k8s.io", "Origin": "http://o", "User-Agent": "kubectl"}

    async with relaying(tmp_path, Passage.STREAM) as (port, backend):
        await ask(port, "/", headers=given)

    assert [line for line in backend.heads[0].split("\r\n")[1:] if line] == [
        "Host: localhost",
        *(f"{name}: {value}" for name, value in given.items()),
        f"X-Forwarded-For: {LOOPBACK}",
    ]


async def test_a_token_that_is_the_only_subprotocol_takes_the_header_along(tmp_path: Path) -> None:
    canaries = Canaries()

    async with relaying(tmp_path, Passage.PROXY) as (port, backend):
        await ask(port, "/", headers={**UPGRADE, **with_token(canaries)})

    assert canaries.seen_in(backend.heads[0]) == []
    assert "Sec-WebSocket-Protocol" not in backend.heads[0]


@pytest.mark.parametrize("verb", ["exec", "attach", "portforward"])
async def test_a_kubelet_gets_no_token_of_a_web_socket(tmp_path: Path, verb: str) -> None:
    """The class of CVE-2018-1002105: an upgraded connection has no more rights than its request."""
    (tmp_path / "tokens.csv").write_text("secret,jane,7\n")
    kubelet = Listening()
    token = base64.urlsafe_b64encode(b"secret").decode().rstrip("=")
    modes: dict[str, Any] = {"authorization_mode": ("AlwaysAllow",), "token_auth_file": tmp_path / "tokens.csv"}

    async with starting(tmp_path, **modes) as server:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(server.pki.server.certificate, server.pki.server.key)
        async with talking(kubelet.talk, tls) as port:
            await put_on_node(server, port)
            given = {**UPGRADE, "Sec-WebSocket-Protocol": f"v5.channel.k8s.io, {BEARER}{token}"}
            target = f"{POD}/{verb}?ports=80&command=a&stdin=1"
            answer = await ask(server.secure.port, target, headers=given, tls=trusting(server))

    assert answer.status == 418
    assert token not in kubelet.heads[0]
    assert "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n" in kubelet.heads[0]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


async def test_an_aggregated_server_gets_no_token_of_a_web_socket(tmp_path: Path, authority: Authority) -> None:
    (tmp_path / "tokens.csv").write_text("secret,jane,7\n")
    modes: dict[str, Any] = {"authorization_mode": ("AlwaysAllow",), "token_auth_file": tmp_path / "tokens.csv"}
    token = base64.urlsafe_b64encode(b"secret").decode().rstrip("=")
    lines = {**UPGRADE, "Host": "localhost", "Sec-WebSocket-Protocol": f"chat, {BEARER}{token}", "Audit-ID": "a1"}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())

    async with registered(tmp_path, authority, **modes) as (server, served):
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=trusting(server))
        writer.write(f"GET {GREETINGS}/one/chat HTTP/1.1\r\n{head}\r\n".encode())
        status = await read_head(reader)
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    headers = served.headers(f"{GREETINGS}/one/chat")
    assert status.startswith("HTTP/1.1 101 ")
    assert headers["sec-websocket-protocol"] == ["chat"]
    assert (headers["x-remote-user"], headers["audit-id"]) == (["jane"], ["a1"])


async def test_a_client_cannot_name_a_user_by_front_proxy_headers(tmp_path: Path, authority: Authority) -> None:
    """An aggregated server reads the names of these headers from a config map that this server writes."""
    async with registered(tmp_path, authority, **NAMED_BY_FLAGS) as (server, served):
        await send(server, GREETINGS, **{"X-Own-User": "root", "X-Own-Extra-a": "b", "X-Other": "c"})

    headers = served.headers(GREETINGS)
    assert "x-own-user" not in headers
    assert "x-own-extra-a" not in headers
    assert headers["x-other"] == ["c"]
