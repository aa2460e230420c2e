"""Replicas that restart one after the other behind a TCP balancer, under requests and watches: no client notices."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from aio_apiserver.base.tasks import Tasks
from tests.apiserver.replicas.replica_programs import MAPS, ReplicaProgram, replica_programs, session
from tests.reliability.outcomes import Outcome
from tests.storage.kv.etcd_server import HOST, Member
from tests.stream_servers import talking

PROBE_SECONDS = 0.2
WRITE_EVERY = 10
"""Each write is an event for every watch, which one process of clients has to read in time."""


class TcpBalancer:
    """Forwards each connection to a replica that was ready at the last probe."""

    def __init__(self, replicas: Sequence[ReplicaProgram], client: aiohttp.ClientSession) -> None:
        self._replicas = replicas
        self._client = client
        self._ready = list(replicas)
        self._turn = itertools.count()
        self._tasks = Tasks()
        self.url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        async with talking(self._forward) as port:
            self.url = f"https://{HOST}:{port}"
            self._tasks.spawn(self._probe(), name="probe")
            try:
                yield
            finally:
                await self._tasks.close()

    async def wait_until_ready(self, replica: ReplicaProgram) -> None:
        while replica not in self._ready:  # noqa: ASYNC110 - the probe has no listeners
            await asyncio.sleep(PROBE_SECONDS)

    async def _probe(self) -> None:
        while True:
            found = [replica for replica in self._replicas if await self._is_ready(replica)]
            self._ready = found or self._ready
            await asyncio.sleep(PROBE_SECONDS)

    async def _is_ready(self, replica: ReplicaProgram) -> bool:
        with suppress(aiohttp.ClientError):
            async with self._client.get(f"{replica.url}/readyz") as answer:
                return answer.status == 200
        return False

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        replica = self._ready[next(self._turn) % len(self._ready)]
        try:
            behind_reader, behind_writer = await asyncio.open_connection(HOST, replica.port.number)
        except OSError:
            writer.transport.abort()
            return
        try:
            await asyncio.gather(_pump(reader, behind_writer), _pump(behind_reader, writer))
        finally:
            behind_writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


@dataclass
class Load:
    """The clients and what they have seen."""

    url: str
    client: aiohttp.ClientSession
    failures: list[str] = field(default_factory=list)
    requests: int = 0
    watches: int = 0
    relists: int = 0
    events: int = 0

    async def send(self, per_second: int) -> None:
        """Send requests at a rate, writes and reads in turns."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        async with asyncio.TaskGroup() as group:
            for number in itertools.count():
                group.create_task(self._request(number))
                await asyncio.sleep(max(0.0, begun + number / per_second - loop.time()))

    async def watch(self) -> None:
        """Watch for ever, and resume at the last seen version."""
        version = await self._list()
        while True:
            parameters = {"watch": "1", "resourceVersion": version, "allowWatchBookmarks": "true"}
            try:
                async with self.client.get(f"{self.url}{MAPS}", params=parameters, timeout=_LONG) as answer:
                    self.watches += 1
                    async for line in answer.content:
                        event = json.loads(line)
                        if event["type"] == "ERROR":
                            self.relists += 1
                            version = await self._list()
                            break
                        self.events += 1
                        version = event["object"]["metadata"]["resourceVersion"]
            except aiohttp.ClientError as exc:
                self.failures.append(f"watch: {exc!r}")

    async def _list(self) -> str:
        async with self.client.get(f"{self.url}{MAPS}") as answer:
            version: str = (await answer.json())["metadata"]["resourceVersion"]
            return version

    async def _request(self, number: int) -> None:
        name = f"map-{number % 20}"
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"n": str(number)}}
        path = f"{self.url}{MAPS}/{name}"
        work = self.client.put(path, json=body) if number % WRITE_EVERY == 0 else self.client.get(path)
        try:
            async with work as answer:
                if answer.status >= 300:
                    self.failures.append(f"{answer.status} {await answer.text()}")
        except (aiohttp.ClientError, OSError) as exc:
            self.failures.append(repr(exc))
        self.requests += 1


_LONG = aiohttp.ClientTimeout(total=None)


async def restart_under_load(
    directory: Path, etcd: Member, *, per_second: int, watches: int, restarts: int, delay: int = 2
) -> Outcome:
    """Restart two replicas in turns. Fails when a request fails or a watch has to list again.

    delay: the seconds in which the balancer has to see that a replica stops, also on a machine that runs other tests.
    """
    flags = (f"--shutdown-delay-duration={delay}s", "--shutdown-watch-termination-grace-period=2s")
    async with (
        replica_programs(directory, etcd, 2, prefix="/rolling-load", flags=flags) as replicas,
        session() as probing,
        session(limit=0) as client,
    ):
        await asyncio.gather(*(replica.start() for replica in replicas))
        await asyncio.gather(*(replica.wait_until_ready() for replica in replicas))
        balancer, tasks = TcpBalancer(replicas, probing), Tasks()
        async with balancer.serving():
            load = Load(balancer.url, client)
            await _fill(load)
            try:
                for _ in range(watches):
                    tasks.spawn(load.watch(), name="watch")
                while load.watches < watches:  # noqa: ASYNC110 - the watches have no listeners
                    await asyncio.sleep(PROBE_SECONDS)
                tasks.spawn(load.send(per_second), name="requests")
                await asyncio.sleep(1)
                for number in range(restarts):
                    await _restart(replicas[number % 2], balancer)
                await asyncio.sleep(1)
            finally:
                await tasks.close()
    assert not load.failures, f"{len(load.failures)} of {load.requests} failed: {load.failures[:3]}"
    assert not load.relists, f"{load.relists} watches listed again"
    counts = {
        "restarts": restarts,
        "requests": load.requests,
        "failed requests": 0,
        "watches opened": load.watches,
        "events": load.events,
        "watches that listed again": 0,
    }
    return Outcome(counts)


async def _fill(load: Load) -> None:
    for number in range(20):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"map-{number}"}}
        async with load.client.post(f"{load.url}{MAPS}", json=body) as answer:
            assert answer.status == 201, await answer.text()


async def _restart(replica: ReplicaProgram, balancer: TcpBalancer) -> None:
    code = await replica.terminate()
    assert code == 0, f"a replica has ended with {code}"
    await asyncio.sleep(PROBE_SECONDS)
    await replica.start()
    await replica.wait_until_ready()
    await balancer.wait_until_ready(replica)
