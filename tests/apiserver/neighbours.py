"""Neighbours: response times for one client while another client, or a controller, loads the server.

A program on SQLite is attacked. Meanwhile one client requests /readyz and another one an object, each every 50 ms over
TLS. Must hold: every request counts in the figures, with or without a response.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, TCPConnector

from tests.apiserver import program
from tests.apiserver.program import Program

LONGEST_SECONDS = 1.0
"""The longest acceptable response time, whatever another client does."""
_ALONE_SECONDS = 5.0
"""The duration of the same measurement without an attack. It shows whether the machine is busy."""
_PAUSE_SECONDS = 0.05
_MEGABYTE = 1024
_CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
_DRY_RUN = f"{_CONFIG_MAPS}?dryRun=All"
_READ = f"{_CONFIG_MAPS}/neighbour"
_LARGE = {"metadata": {"name": "large"}, "data": {"a": "b" * 70_000}}


@dataclass
class Waits:
    """The response times of one request."""

    name: str
    seconds: list[float] = field(default_factory=list)
    wrong: int = 0

    @property
    def p50(self) -> float:
        return statistics.median(self.seconds)

    @property
    def p99(self) -> float:
        return sorted(self.seconds)[len(self.seconds) * 99 // 100]

    @property
    def longest(self) -> float:
        return max(self.seconds)

    def __str__(self) -> str:
        shown = " ".join(f"{1000 * one:.0f}" for one in (self.p50, self.p99, self.longest))
        return f"{self.name} p50 p99 max {shown} ms of {len(self.seconds)}" + (
            f", {self.wrong} WRONG" * bool(self.wrong)
        )


@dataclass(frozen=True)
class Attacked:
    """A server and the clients that must not notice the attack."""

    program: Program
    session: ClientSession

    @property
    def url(self) -> str:
        return self.program.url

    @property
    def memory(self) -> int:
        """The resident memory of the server in megabytes."""
        lines = Path(f"/proc/{self.program.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) // _MEGABYTE

    async def create(self, path: str, obj: Any, *, session: ClientSession | None = None) -> tuple[int, float]:
        """POST an object. Returns the status and the seconds of the response."""
        began = time.monotonic()
        async with (session or self.session).post(f"{self.url}{path}", json=obj) as answer:
            await answer.read()
            return answer.status, time.monotonic() - began

    async def count(self, resource: str) -> int:
        """The number of stored objects of a resource, from the metrics."""
        async with self.session.get(f"{self.url}/metrics") as answer:
            lines = (await answer.text()).splitlines()
        counted = [line for line in lines if line.startswith(f'apiserver_storage_objects{{resource="{resource}"}}')]
        return int(counted[0].split()[1])

    async def beside(self, attack: Awaitable[object]) -> Sequence[Waits]:
        """The response times of /readyz and of one object during an attack."""
        readyz, read = Waits("/readyz"), Waits("GET")
        attacking = asyncio.ensure_future(attack)
        clients = [
            asyncio.ensure_future(self._ask(path, waits)) for path, waits in (("/readyz", readyz), (_READ, read))
        ]
        try:
            await attacking
        finally:
            for client in (attacking, *clients):
                client.cancel()
            await asyncio.gather(attacking, *clients, return_exceptions=True)
        return readyz, read

    async def _ask(self, path: str, waits: Waits) -> None:
        while True:
            began = time.monotonic()
            try:
                async with self.session.get(f"{self.url}{path}") as answer:
                    await answer.read()
                    waits.wrong += answer.status != 200
            finally:
                waits.seconds.append(time.monotonic() - began)
            await asyncio.sleep(_PAUSE_SECONDS)


def session_of(running: Program, user: str = "") -> ClientSession:
    """Connections of an administrator, who may impersonate another user."""
    connector = TCPConnector(ssl=program.trusting(running.directory), limit=0)
    headers = {"Authorization": f"Bearer {running.admin_token}"}
    if user:
        headers |= {"Impersonate-User": user, "Impersonate-Group": "system:masters"}
    return ClientSession(connector=connector, headers=headers)


@asynccontextmanager
async def attacked(directory: Path, *flags: str) -> AsyncIterator[Attacked]:
    """A server with one object."""
    async with program.running(directory, *flags, backend="sqlite") as running, session_of(running) as session:
        one = Attacked(running, session)
        namespace = {"metadata": {"name": "default"}}
        await one.create("/api/v1/namespaces", namespace)
        status, _ = await one.create(_CONFIG_MAPS, {"metadata": {"name": "neighbour"}, "data": {"a": "b"}})
        assert status == 201, status
        yield one


def large_job(parallelism: int) -> Any:
    """A job that wants so many pods at once."""
    container = {"name": "work", "image": "example.com/work"}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {"metadata": {"name": "large"}, "spec": {"parallelism": parallelism, "template": template}}


def large_set(replicas: int) -> Any:
    """A replica set of so many pods."""
    labels = {"app": "large"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "work", "image": "example.com/work"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"metadata": {"name": "large"}, "spec": spec}


def owned(entries: int, name: str = "owned") -> Any:
    """A config map with the managedFields of so many managers, each of one field that the object lacks."""
    managed = [
        {
            "manager": f"manager-{number}",
            "operation": "Update",
            "apiVersion": "v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {f"f:key-{number}": {}}},
            "time": "2026-01-01T00:00:00Z",
        }
        for number in range(entries)
    ]
    return {"metadata": {"name": name, "managedFields": managed}, "data": {"a": "b"}}


async def job_attack(directory: Path, *, parallelism: int, seconds: float, flags: Sequence[str] = ()) -> str:
    """One job with many pods, beside other clients."""
    async with attacked(directory, "--controllers=*", *flags) as one:
        alone, before = await one.beside(asyncio.sleep(_ALONE_SECONDS)), one.memory

        async def attack() -> None:
            status, _ = await one.create("/apis/batch/v1/namespaces/default/jobs", large_job(parallelism))
            assert status == 201, status
            await asyncio.sleep(seconds)

        waits = await one.beside(attack())
        _check(waits)
        pods = await one.count("pods")
        return f"{_shown(waits)} (alone {_shown(alone)}); {pods} pods, {before} -> {one.memory} MB"


async def nodes_attack(directory: Path, *, nodes: int, replicas: int, seconds: float) -> str:
    """A simulated cluster with many nodes and one replica set with many pods, beside other clients."""
    flags = ("--controllers=*", "--kube-api-qps=-1", "--simulate", f"--simulate-nodes={nodes}")
    async with attacked(directory, *flags) as one:
        before = one.memory

        async def attack() -> None:
            status, _ = await one.create("/apis/apps/v1/namespaces/default/replicasets", large_set(replicas))
            assert status == 201, status
            await asyncio.sleep(seconds)

        waits = await one.beside(attack())
        there = f"{await one.count('nodes')} nodes, {await one.count('pods')} pods"
        return f"{_shown(waits)}; {there}, {before} -> {one.memory} MB"


async def bodies_attack(directory: Path, *, entries: int, seconds: float) -> str:
    """One object with many managers, written repeatedly, beside another user's objects of 70 KB."""
    body, took = owned(entries), list[float]()
    other = Waits("70 KB")
    async with attacked(directory) as one, session_of(one.program, "eve") as attacker, session_of(one.program) as third:
        before = one.memory

        async def attack() -> None:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                status, taken = await one.create(_DRY_RUN, body, session=attacker)
                assert status == 201, status
                took.append(taken)

        async def write() -> None:
            while True:
                status, taken = await one.create(_DRY_RUN, _LARGE, session=third)
                other.wrong += status != 201
                other.seconds.append(taken)
                await asyncio.sleep(_PAUSE_SECONDS)

        writing = asyncio.ensure_future(write())
        try:
            waits = await one.beside(attack())
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
        _check(waits)
        spent = f"{entries} entries {1000 * statistics.median(took):.0f} ms of {len(took)}"
        return f"{spent}; {_shown([other, *waits])}; {before} -> {one.memory} MB"


def _shown(waits: Sequence[Waits]) -> str:
    return ", ".join(map(str, waits))


def _check(waits: Sequence[Waits]) -> None:
    """Every request was answered in time."""
    for one in waits:
        assert one.seconds, f"nothing was asked of {one.name}"
        assert not one.wrong, str(one)
        assert one.longest <= LONGEST_SECONDS, str(one)
