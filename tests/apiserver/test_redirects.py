"""Redirects, and nodes that name this host: where forwarded requests must not go."""

import asyncio
import ssl
from pathlib import Path

import pytest

from tests.apiserver.extension_servers import ROOT
from tests.apiserver.handlers.test_connect import POD, put_on_node, read_head, request, starting
from tests.apiserver.serving import LOOPBACK, as_admin, ask, exchange
from tests.apiserver.test_aggregation import GREETINGS, registered, send
from tests.apiserver.test_forwarding import UPGRADE, Listening
from tests.storage.kv.certificates import Authority
from tests.stream_servers import talking


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.mark.parametrize("code", [301, 302, 307, 308])
async def test_redirects_of_aggregated_servers_are_refused(tmp_path: Path, authority: Authority, code: int) -> None:
    """CVE-2022-3172: a client would send its credentials to the redirect's target."""
    async with registered(tmp_path, authority) as (server, served):
        served.redirects = (code, "http://127.0.0.1:1/stolen")
        answer = await send(server, f"{GREETINGS}/one")

    assert (answer.status, answer.text) == (
        502,
        "the backend attempted to redirect this request, which is not permitted",
    )
    assert "location" not in answer.headers


async def test_an_answer_of_three_hundred_without_a_place_is_passed_on(tmp_path: Path, authority: Authority) -> None:
    async with registered(tmp_path, authority) as (server, served):
        served.redirects = (304, "")
        answer = await send(server, f"{GREETINGS}/one")

    assert answer.status == 304


async def test_redirects_of_aggregated_servers_come_back_where_a_flag_says_so(
    tmp_path: Path, authority: Authority
) -> None:
    async with registered(tmp_path, authority, aggregator_reject_forwarding_redirect=False) as (server, served):
        served.redirects = (302, f"{ROOT}/elsewhere")
        answer = await send(server, f"{GREETINGS}/one")

    assert (answer.status, answer.headers["location"]) == (302, f"{ROOT}/elsewhere")


async def test_an_upgrade_that_is_redirected_is_refused(tmp_path: Path, authority: Authority) -> None:
    """CVE-2018-1002105: a tunnel begins after the backend has agreed to another protocol."""
    async with registered(tmp_path, authority) as (server, served):
        served.redirects = (302, "http://127.0.0.1:1/stolen")
        lines = "".join(f"{name}: {value}\r\n" for name, value in {**UPGRADE, "Host": "localhost"}.items())
        request = f"GET {GREETINGS}/one HTTP/1.1\r\n{lines}\r\n".encode()
        (answer,) = await exchange(server.secure.port, request, tls=as_admin(server))

    assert (answer.status, answer.text) == (503, "invalid upgrade response: status code 302\n")


async def test_requests_behind_a_refused_upgrade_do_not_reach_the_backend(tmp_path: Path) -> None:
    """CVE-2018-1002105: after a refused upgrade, the client spoke to the backend as the server."""
    kubelet = Listening()

    async with starting(tmp_path) as server:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(server.pki.server.certificate, server.pki.server.key)
        async with talking(kubelet.talk, tls) as port:
            await put_on_node(server, port)
            lines = "".join(f"{name}: {value}\r\n" for name, value in {**UPGRADE, "Host": "localhost"}.items())
            upgrade = f"GET {POD}/exec?command=a HTTP/1.1\r\n{lines}\r\n"
            reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
            writer.write(
                f"{upgrade}GET /runningpods/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
            )
            answers = await reader.read()
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    assert [head.split()[1].partition("?")[0] for head in kubelet.heads] == ["/exec/default/p/c"]
    assert b"101 Switching" not in answers


class Redirecting(Listening):
    """A backend that redirects every client."""

    def __init__(self, target: str) -> None:
        super().__init__()
        self._target = target

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await read_head(reader))
        writer.write(f"HTTP/1.1 302 Found\r\nLocation: {self._target}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()


@pytest.mark.parametrize("subresource", ["log", "exec?command=a", "attach", "portforward?ports=80"])
async def test_no_redirect_of_a_kubelet_is_followed(tmp_path: Path, subresource: str) -> None:
    """CVE-2018-1002102: a kubelet cannot redirect the server and its client certificate."""
    other = Listening()

    async with starting(tmp_path) as server:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(server.pki.server.certificate, server.pki.server.key)
        async with talking(other.talk, tls) as elsewhere:
            kubelet = Redirecting(f"https://{LOOPBACK}:{elsewhere}/stolen")
            async with talking(kubelet.talk, tls) as port:
                await put_on_node(server, port)
                upgrade = {} if subresource == "log" else UPGRADE
                answer = await ask(server.secure.port, f"{POD}/{subresource}", headers=upgrade, tls=as_admin(server))

    assert len(kubelet.heads) == 1
    assert other.heads == []
    assert answer.status == 302 if subresource == "log" else answer.status >= 400
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        ("Hostname", "localhost"),
        ("InternalIP", "::ffff:127.0.0.1"),
        ("InternalIP", "::127.0.0.1"),
        ("InternalIP", "64:ff9b::7f00:1"),
        ("InternalIP", "2002:7f00:1::"),
        ("InternalIP", "0.0.0.1"),
        ("InternalIP", "127.1"),
    ],
)
@pytest.mark.parametrize("upgrade", [{}, UPGRADE], ids=["request", "upgrade"])
async def test_a_node_that_names_this_host_is_not_proxied_to(
    tmp_path: Path, kind: str, address: str, upgrade: dict[str, str]
) -> None:
    """CVE-2022-3294: a user with write access to nodes cannot reach services on the server's own host."""
    backend = Listening()

    async with starting(tmp_path) as server, talking(backend.talk) as port:
        await put_on_node(server, port)
        status = {"status": {"addresses": [{"type": kind, "address": address}]}}
        await request(server, "/api/v1/nodes/n/status", status, method="PATCH")
        target = f"/api/v1/nodes/http:n:{port}/proxy/x"
        answer = await ask(server.secure.port, target, headers=upgrade, tls=as_admin(server))

    assert answer.status >= 400
    assert backend.heads == []
