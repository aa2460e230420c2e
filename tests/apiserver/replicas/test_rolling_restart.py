"""Replicas that restart one after the other behind a balancer: no request fails, and no watch has to list again."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from aio_apiserver.base.clock import SystemClock
from aio_apiserver.base.tasks import Tasks
from tests.apiserver.replicas.replica_servers import replica, started_replica, with_token
from tests.apiserver.serving import LOOPBACK, Answer, as_admin, ask, read_answer
from tests.storage.kv.etcd_server import Member

MAPS = "/api/v1/namespaces/default/configmaps"
ENDPOINTS = "/api/v1/namespaces/default/endpoints/kubernetes"
DELAY = 86.0
GRACE = 0.5
PATIENCE = 60.0
CLIENTS = 8
WATCHES = 20
REQUESTS = 5
"""What each client asks the other replica while one stops."""


@pytest.fixture(scope="module")
def etcd() -> Iterator[Member]:
    with Member() as member:
        yield member


class HeldDelay(SystemClock):
    """The system's time. The delay of a shutdown is over when the test says so, however slow the machine is."""

    def __init__(self) -> None:
        self.is_over = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        await (self.is_over.wait() if seconds == DELAY else super().sleep(seconds))


class Balancer:
    """Knows which replicas are ready, as a load balancer's probes tell it."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self.servers = list(servers)
        self.ready = list(servers)
        self._contexts = {id(server): as_admin(server) for server in servers}

    async def probe(self) -> None:
        while True:
            found = [server for server in self.servers if await self._is_ready(server)]
            self.ready = found or self.ready

    def tls_of(self, server: Server) -> ssl.SSLContext:
        """The TLS of the clients of a replica, who have read its files once."""
        if id(server) not in self._contexts:
            self._contexts[id(server)] = as_admin(server)
        return self._contexts[id(server)]

    async def _is_ready(self, server: Server) -> bool:
        try:
            return (await ask(server.secure.port, "/readyz", tls=self.tls_of(server))).status == 200
        except (OSError, EOFError):  # it is just closing its connections
            return False


class Client:
    """Writes and reads one config map again and again, each time over a connection to a ready replica."""

    def __init__(self, balancer: Balancer, number: int) -> None:
        self._balancer = balancer
        self._path = f"{MAPS}/client-{number}"
        self._body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"client-{number}"}}
        self.failures: list[str] = []
        self.count = 0

    async def run(self) -> None:
        await self._send("POST", MAPS, orjson.dumps(self._body))
        while True:
            body = orjson.dumps({**self._body, "data": {"n": str(self.count)}})
            await self._send("PUT", self._path, body)
            await self._send("GET", self._path)

    async def _send(self, method: str, path: str, body: bytes = b"") -> None:
        server = self._balancer.ready[self.count % len(self._balancer.ready)]
        self.count += 1
        headers = {"Content-Type": "application/json"}
        try:
            answer = await ask(
                server.secure.port, path, method=method, body=body, headers=headers, tls=self._balancer.tls_of(server)
            )
        except (OSError, EOFError) as exc:
            self.failures.append(f"{method}: {exc!r}")
            return
        if answer.status >= 300:
            self.failures.append(f"{method}: {answer.text}")


async def until_left(server: Server, balancer: Balancer, clients: Sequence[Client]) -> None:
    """Return when the balancer has seen that a server is not ready, and each client has begun REQUESTS after that."""
    async with asyncio.timeout(PATIENCE):
        while server in balancer.ready:  # noqa: ASYNC110 nothing tells when
            await asyncio.sleep(0)
        goals = [client.count + REQUESTS for client in clients]
        while any(client.count < goal for client, goal in zip(clients, goals, strict=True)):  # noqa: ASYNC110 the same
            await asyncio.sleep(0)


@asynccontextmanager
async def busy(balancer: Balancer) -> AsyncIterator[Sequence[Client]]:
    """Clients under way."""
    tasks = Tasks()
    tasks.spawn(balancer.probe(), name="probe")
    clients = [Client(balancer, number) for number in range(CLIENTS)]
    for number, client in enumerate(clients):
        tasks.spawn(client.run(), name=f"client {number}")
    try:
        async with asyncio.timeout(PATIENCE):
            while not all(client.count > 3 for client in clients):  # noqa: ASYNC110 nothing tells when
                await asyncio.sleep(0)
        yield clients
    finally:
        await tasks.close()


async def opened_watch(server: Server) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(LOOPBACK, server.secure.port, ssl=as_admin(server))
    writer.write(f"GET {MAPS}?watch=1&labelSelector=watched HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def test_no_request_fails_while_two_replicas_restart(tmp_path: Path, etcd: Member) -> None:
    flags: dict[str, Any] = {
        "shutdown_delay_duration": DELAY,
        "shutdown_watch_termination_grace_period": GRACE,
    }
    delays = [HeldDelay(), HeldDelay()]
    servers = [
        await started_replica(tmp_path / name, etcd, "/rolling", clock=delay, **flags)
        for name, delay in zip(("a", "b"), delays, strict=True)
    ]
    balancer = Balancer(servers)
    async with busy(balancer) as clients:
        for position, (name, delay) in enumerate(zip(("a", "b"), delays, strict=True)):
            port = servers[position].secure.port
            stopping = asyncio.create_task(servers[position].stop())
            await until_left(servers[position], balancer, clients)
            delay.is_over.set()
            await stopping
            again = await started_replica(tmp_path / name, etcd, "/rolling", clock=delay, secure_port=port, **flags)
            balancer.servers[position] = again
            async with asyncio.timeout(PATIENCE):
                while again not in balancer.ready:  # noqa: ASYNC110 nothing tells when
                    await asyncio.sleep(0)
    for server in balancer.servers:
        await server.stop()

    assert [client.failures for client in clients] == [[]] * CLIENTS
    assert sum(client.count for client in clients) > 100


async def test_watches_end_in_order_one_after_the_other_and_go_on_at_another_replica(
    tmp_path: Path, etcd: Member
) -> None:
    ended: list[bytes] = []
    async with replica(tmp_path / "b", etcd, "/watches") as b:
        a = await started_replica(tmp_path / "a", etcd, "/watches", shutdown_watch_termination_grace_period=GRACE)
        streams = [await opened_watch(a) for _ in range(WATCHES)]
        made = await ask(b.secure.port, MAPS, method="POST", body=config_map(), headers=JSON, tls=as_admin(b))

        async def read_to_the_end(reader: asyncio.StreamReader) -> None:
            ended.append(await reader.read())

        reading = [asyncio.create_task(read_to_the_end(reader)) for reader, _ in streams]
        await a.stop()
        await asyncio.gather(*reading)
        version = made.json["metadata"]["resourceVersion"]
        resumed = await ask(
            b.secure.port, f"{MAPS}?watch=1&resourceVersion={version}&timeoutSeconds=1", tls=as_admin(b)
        )
        for _, writer in streams:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for _, writer in streams), return_exceptions=True)

    assert len(ended) == WATCHES
    assert all(end.endswith(b"0\r\n\r\n") for end in ended)
    assert resumed.status == 200
    assert b"ERROR" not in resumed.body


async def test_a_replica_leaves_the_endpoints_while_it_still_serves(tmp_path: Path, etcd: Member) -> None:
    async with replica(tmp_path / "b", etcd, "/endpoints", advertise_address="192.0.2.2") as b:
        delay = HeldDelay()
        a = await started_replica(
            tmp_path / "a",
            etcd,
            "/endpoints",
            clock=delay,
            advertise_address="192.0.2.1",
            shutdown_delay_duration=DELAY,
        )
        before = addresses(await with_token(b, b.pki.admin_token, ENDPOINTS))
        stopping = asyncio.create_task(a.stop())
        async with asyncio.timeout(PATIENCE):
            while (after := addresses(await with_token(b, b.pki.admin_token, ENDPOINTS))) == before:
                pass
        reader, writer = await asyncio.open_connection(LOOPBACK, a.secure.port, ssl=as_admin(a))
        writer.write(f"GET {MAPS} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        answer = await read_answer(reader)
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)
        delay.is_over.set()
        await stopping

    assert (before, after) == (["192.0.2.1", "192.0.2.2"], ["192.0.2.2"])
    assert (answer.status, answer.headers["connection"]) == (200, "close")


JSON = {"Content-Type": "application/json"}


def config_map() -> bytes:
    return orjson.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"watched": ""}}})


def addresses(endpoints: Answer) -> list[str]:
    found: list[str] = [one["ip"] for subset in endpoints.json["subsets"] for one in subset["addresses"]]
    return found
