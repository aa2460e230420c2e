"""Logs, streams and proxies: requests that are forwarded to kubelets and pods."""

import asyncio
import logging
import socket
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.handlers import reverse_proxy
from aio_apiserver.apiserver.outgoing.backends import Backends
from aio_apiserver.apiserver.server import Server
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base.locations import Location, Passage
from tests.apiserver.serving import LOOPBACK, Answer, as_admin, ask, listening, read_answer, running
from tests.stream_servers import talking

POD = "/api/v1/namespaces/default/pods/p"


async def read_head(reader: asyncio.StreamReader) -> str:
    return (await reader.readuntil(b"\r\n\r\n")).decode()


class Kubelet:
    """A kubelet with one log. It refuses some requests, and echoes streams in capitals."""

    def __init__(self) -> None:
        self.heads: list[str] = []

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await read_head(reader)
        self.heads.append(head)
        if "Upgrade: SPDY/3.1" in head or "Upgrade: websocket" in head:
            writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
            while words := await reader.read(1024):
                writer.write(words.upper())
        elif "Upgrade:" in head:
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        elif "tailLines=7" in head:
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 7\r\n\r\nno such")
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: x\r\nContent-Length: 6\r\n\r\nlines\n")
        await writer.drain()
        writer.close()


def starting(directory: Path, **settings: Any) -> AbstractAsyncContextManager[Server]:
    """A server that accepts pods without service accounts."""
    return running(directory, disable_admission_plugins=("ServiceAccount",), **settings)


@asynccontextmanager
async def with_kubelet(directory: Path) -> AsyncIterator[tuple[Server, Kubelet]]:
    """A server with a pod on a node, whose kubelet listens."""
    kubelet = Kubelet()
    async with starting(directory) as server:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(server.pki.server.certificate, server.pki.server.key)
        async with talking(kubelet.talk, tls) as port:
            await put_on_node(server, port)
            yield server, kubelet


async def put_on_node(server: Server, port: int) -> None:
    status = {
        "addresses": [{"type": "InternalIP", "address": LOOPBACK}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
    }
    await request(server, "/api/v1/nodes", {"metadata": {"name": "n"}})
    await request(server, "/api/v1/nodes/n/status", {"status": status}, method="PATCH")
    spec = {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    made = await request(server, POD.removesuffix("/p"), {"metadata": {"name": "p"}, "spec": spec})
    assert made.status == 201, made.text


async def request(server: Server, path: str, body: Any = None, *, method: str = "") -> Answer:
    headers = {"Content-Type": "application/merge-patch+json"} if method == "PATCH" else {}
    data = orjson.dumps(body) if body is not None else b""
    method = method or ("POST" if body is not None else "GET")
    return await ask(server.secure.port, path, method=method, headers=headers, body=data, tls=as_admin(server))


async def test_a_log_is_that_of_the_kubelet(tmp_path: Path) -> None:
    async with with_kubelet(tmp_path) as (server, kubelet):
        answer = await request(server, f"{POD}/log?tailLines=3&timestamps=true")

    assert (answer.status, answer.headers["content-type"], answer.text) == (200, "text/plain", "lines\n")
    assert kubelet.heads[0].startswith("GET /containerLogs/default/p/c?tailLines=3&timestamps=true HTTP/1.1")


@pytest.mark.parametrize(
    ("form", "code", "says"),
    [
        ("PartialObjectMetadata", 500, "object does not implement the Object interfaces"),
        ("PartialObjectMetadataList", 406, "is not a list (*rest.LocationStreamer)"),
        ("Table", 406, "only the following media types are accepted"),
    ],
)
async def test_a_log_is_no_object(tmp_path: Path, form: str, code: int, says: str) -> None:
    accept = {"Accept": f"application/json;as={form};g=meta.k8s.io;v=v1"}
    async with with_kubelet(tmp_path) as (server, kubelet):
        answer = await ask(server.secure.port, f"{POD}/log", headers=accept, tls=as_admin(server))

    assert (answer.status, says in answer.text, kubelet.heads) == (code, True, [])


async def test_a_kubelet_that_refuses_is_told_in_a_status(tmp_path: Path) -> None:
    async with with_kubelet(tmp_path) as (server, _kubelet):
        answer = await request(server, f"{POD}/log?tailLines=7")

    assert (answer.status, answer.json["message"], answer.json["reason"]) == (400, "no such", "BadRequest")


async def test_a_kubelet_that_is_not_there_is_told_as_the_dialer_tells_it(tmp_path: Path) -> None:
    async with starting(tmp_path) as server:
        await put_on_node(server, 1)
        answer = await request(server, f"{POD}/log")

    where = "https://127.0.0.1:1/containerLogs/default/p/c"
    assert answer.status == 500
    assert answer.json["message"] == f'Get "{where}": dial tcp 127.0.0.1:1: connect: connection refused'


@pytest.mark.parametrize("protocol", ["SPDY/3.1", "websocket"])
async def test_a_stream_goes_through_byte_by_byte(tmp_path: Path, protocol: str) -> None:
    async with with_kubelet(tmp_path) as (server, kubelet):
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
        head = f"POST {POD}/exec?command=b&command=a&stdin=true HTTP/1.1\r\nHost: x\r\nAuthorization: secret\r\n"
        writer.write(f"{head}Connection: Upgrade\r\nUpgrade: {protocol}\r\nContent-Length: 0\r\n\r\n".encode())
        status = await read_head(reader)
        writer.write(b"hello")
        echoed = await reader.readexactly(5)
        writer.close()
        await writer.wait_closed()

    assert status.startswith("HTTP/1.1 101 ")
    assert echoed == b"HELLO"
    assert kubelet.heads[0].startswith("POST /exec/default/p/c?command=b&command=a&input=1 HTTP/1.1")
    assert "secret" not in kubelet.heads[0]


@pytest.mark.parametrize(
    ("upgrade", "expected"),
    [({}, (400, "Upgrade request required")), ({"Connection": "Upgrade", "Upgrade": "other"}, (403, "no"))],
)
async def test_a_stream_without_an_upgrade_is_refused(
    tmp_path: Path, upgrade: dict[str, str], expected: tuple[int, str]
) -> None:
    async with with_kubelet(tmp_path) as (server, _kubelet):
        target = f"{POD}/attach"
        answer = await ask(server.secure.port, target, method="POST", headers=upgrade, tls=as_admin(server))

    shown = answer.json["message"] if answer.text.startswith("{") else answer.text
    assert (answer.status, shown) == expected


@pytest.mark.parametrize("path", [f"{POD}/proxy/x", "/api/v1/nodes/n/proxy/metrics"])
async def test_nothing_is_proxied_to_this_host(tmp_path: Path, path: str) -> None:
    async with with_kubelet(tmp_path) as (server, kubelet):
        address = {"status": {"podIP": LOOPBACK, "podIPs": [{"ip": LOOPBACK}]}}
        await request(server, f"{POD}/status", address, method="PATCH")
        answer = await request(server, path)

    assert (answer.status, answer.json["message"]) == (400, "address not allowed")
    assert kubelet.heads == []


@asynccontextmanager
async def proxying(directory: Path, port: int, path: str) -> AsyncIterator[int]:
    """A port that proxies to another port."""
    backends = Backends(Settings(data_dir=directory))

    async def proxy(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        location = Location(passage=Passage.PROXY, scheme="http", host=LOOPBACK, port=str(port), path=path)
        return await reverse_proxy.send(request, context, location, backends)

    try:
        async with listening(proxy) as listener:
            yield listener.port
    finally:
        await backends.close()


async def test_a_proxy_passes_requests_on_and_answers_back(tmp_path: Path) -> None:
    heads = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await read_head(reader))
        body = await read_answer_body(reader, heads[0])
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /login\r\nX-Own: 1\r\nContent-Length: 4\r\n\r\n" + body[::-1])
        await writer.drain()
        writer.close()

    async with talking(talk) as backend, proxying(tmp_path, backend, "/a") as port:
        headers = {"Authorization": "secret", "X-Mine": "2"}
        answer = await ask(port, "/proxy/a?q=1", method="POST", headers=headers, body=b"abcd")

    assert heads[0].startswith("POST /a?q=1 HTTP/1.1")
    assert "X-Mine: 2" in heads[0]
    assert "X-Forwarded-Uri: /proxy/a" in heads[0]
    assert "secret" not in heads[0]
    assert (answer.status, answer.text, answer.headers["x-own"]) == (302, "dcba", "1")
    assert answer.headers["location"] == "/proxy/login"


async def read_answer_body(reader: asyncio.StreamReader, head: str) -> bytes:
    if "chunked" not in head.lower():
        return await reader.readexactly(4)
    size = int(await reader.readline(), 16)
    return await reader.readexactly(size)


async def test_a_proxied_root_begins_with_a_slash(tmp_path: Path) -> None:
    async with proxying(tmp_path, 1, "") as port:
        answer = await ask(port, "/proxy?a=b")

    assert (answer.status, answer.headers["location"]) == (301, "/proxy/?a=b")


async def test_a_tunnel_without_another_end_is_told(tmp_path: Path) -> None:
    async with with_kubelet(tmp_path) as (server, _kubelet):
        node = {"status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": 1}}}}
        await request(server, "/api/v1/nodes/n/status", node, method="PATCH")
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
        writer.write(f"GET {POD}/exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n".encode())
        answer = await read_answer(reader)
        writer.close()
        await writer.wait_closed()

    assert answer.status == 500
    assert answer.json["message"] == "error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused"


async def test_streams_end_with_the_server(tmp_path: Path) -> None:
    async with with_kubelet(tmp_path) as (server, _kubelet):
        reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
        writer.write(
            f"GET {POD}/attach HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n".encode()
        )
        await read_head(reader)

    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()


async def test_a_path_goes_on_as_it_was_written(tmp_path: Path) -> None:
    heads = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await read_head(reader))
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    path = "/a b\r\nX-Evil: 1"
    async with talking(talk) as backend, proxying(tmp_path, backend, path) as port:
        await ask(port, "/proxy", headers={"Connection": "Upgrade", "Upgrade": "x"})
        await ask(port, "/proxy")

    assert [head.split("\r\n", 1)[0] for head in heads] == ["GET /a%20b%0D%0AX-Evil:%201 HTTP/1.1"] * 2


def reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection with a TCP reset."""
    made = writer.get_extra_info("socket")
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@pytest.mark.parametrize("end", ["backend", "client"])
async def test_a_tunnel_that_is_reset_ends_without_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, end: str
) -> None:
    closed = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
        await reader.readexactly(1)
        if end == "backend":
            reset(writer)
        else:
            with suppress(ConnectionError):
                while True:
                    writer.write(bytes(1024 * 1024))
                    await writer.drain()
        closed.set()

    async with talking(talk) as backend, proxying(tmp_path, backend, "/a") as port:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        writer.write(b"GET /proxy HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
        await read_head(reader)
        writer.write(b"x")
        if end == "client":
            await reader.readexactly(1024 * 1024)
            reset(writer)
        else:
            assert await reader.read() == b""
            writer.close()
        await closed.wait()

    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("address", ["", "x" * 300, "a b", "\n"])
async def test_a_node_with_an_odd_address_is_not_reached(tmp_path: Path, address: str) -> None:
    async with with_kubelet(tmp_path) as (server, kubelet):
        status = {"status": {"addresses": [{"type": "InternalIP", "address": address}]}}
        await request(server, "/api/v1/nodes/n/status", status, method="PATCH")
        answers = [await request(server, path) for path in (f"{POD}/log", "/api/v1/nodes/n/proxy/x")]
        headers = {"Connection": "Upgrade", "Upgrade": "x"}
        answers.append(await ask(server.secure.port, f"{POD}/exec", headers=headers, tls=as_admin(server)))

    assert [answer.json["kind"] for answer in answers] == ["Status"] * 3
    assert kubelet.heads == []
