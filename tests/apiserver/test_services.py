"""Services on two servers over one etcd."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import LOOPBACK, Answer, as_admin, read_answer, running
from tests.storage.kv.etcd_server import Member

SERVICES = "/api/v1/namespaces/default/services"
CONNECTIONS = 20
COUNT = 200


@pytest.fixture(scope="module")
def etcd(etcd_binary: Path) -> Iterator[Member]:
    with Member(binary=etcd_binary) as member:
        yield member


@pytest.fixture
async def replicas(etcd: Member, tmp_path: Path) -> AsyncIterator[Sequence[Server]]:
    etcd_servers = (etcd.endpoint,)
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(
            running(tmp_path / "one", storage_backend="etcd3", etcd_servers=etcd_servers)
        )
        second = await stack.enter_async_context(
            running(tmp_path / "two", storage_backend="etcd3", etcd_servers=etcd_servers)
        )
        yield first, second


class Connection:
    """A client that sends one request after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, server: Server, tls: ssl.SSLContext) -> "Connection":
        return cls(*await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=tls, limit=1 << 22))

    async def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Answer:
        data = orjson.dumps(body) if body is not None else b""
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(data)}\r\n\r\n"
        self._writer.write(head.encode() + data)
        return await read_answer(self._reader)

    async def close(self) -> None:
        self._writer.close()
        await asyncio.gather(self._writer.wait_closed(), return_exceptions=True)


async def test_two_servers_give_no_address_or_port_twice_and_take_all_back(replicas: Sequence[Server]) -> None:
    tls = [as_admin(server) for server in replicas]
    connections = [await Connection.open(replicas[number % 2], tls[number % 2]) for number in range(CONNECTIONS)]
    each = COUNT // CONNECTIONS

    created = await asyncio.gather(*(create(one, number, each) for number, one in enumerate(connections)))
    held = (await connections[0].ask("GET", "/apis/networking.k8s.io/v1/ipaddresses")).json["items"]
    deleted = await asyncio.gather(*(delete(one, number, each) for number, one in enumerate(connections)))
    left = (await connections[1].ask("GET", "/apis/networking.k8s.io/v1/ipaddresses")).json["items"]
    ports = [spec["ports"][0]["nodePort"] for spec in specs(created)]
    reused = await connections[0].ask("POST", SERVICES, service("again", *ports))
    for connection in connections:
        await connection.close()

    addresses = [spec["clusterIP"] for spec in specs(created)]
    assert len(set(addresses)) == len(set(ports)) == COUNT
    assert {one["metadata"]["name"] for one in held} == {*addresses, "10.0.0.1"}
    assert {answer.status for answers in deleted for answer in answers} == {200}
    assert [one["metadata"]["name"] for one in left] == ["10.0.0.1"]
    assert reused.status == 201


def specs(created: Sequence[Sequence[Answer]]) -> list[dict[str, Any]]:
    return [answer.json["spec"] for answers in created for answer in answers]


def service(name: str, *node_ports: int) -> dict[str, Any]:
    """A service with these node ports, or with any."""
    ports = [{"name": f"p{port}", "port": port, "nodePort": port} for port in node_ports] or [{"port": 80}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"type": "NodePort", "ports": ports},
    }


async def create(connection: Connection, number: int, count: int) -> list[Answer]:
    return [await connection.ask("POST", SERVICES, service(f"s-{number}-{index}")) for index in range(count)]


async def delete(connection: Connection, number: int, count: int) -> list[Answer]:
    return [await connection.ask("DELETE", f"{SERVICES}/s-{number}-{index}") for index in range(count)]
