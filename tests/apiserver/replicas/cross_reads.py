"""Writes on one replica, each followed by a list on another one: the list has the write, and hardly waits for it."""

import asyncio
import statistics
import time
from pathlib import Path

import aiohttp

from tests.apiserver.replicas.replica_programs import MAPS, replica_programs, session
from tests.reliability.outcomes import Outcome
from tests.storage.kv.etcd_server import Member

AT_ONCE = 4


async def read_after_writes(directory: Path, etcd: Member, *, pairs: int) -> Outcome:
    """So many pairs. Fails when a list is stale."""
    async with replica_programs(directory, etcd, 2, prefix="/cross") as (a, b), session() as client:
        for replica in (a, b):
            await replica.start()
        for replica in (a, b):
            await replica.wait_until_ready()
        usual = [await _list(client, b.url, "none") for _ in range(100)]
        numbers = iter(range(pairs))
        waits: list[float] = []

        async def work(name: str) -> None:
            for number in numbers:
                await _write(client, a.url, name, str(number))
                begun = time.perf_counter()
                found = await _listed(client, b.url, name)
                waits.append(time.perf_counter() - begun)
                assert found == str(number), f"stale: {found} instead of {number}"

        async with asyncio.TaskGroup() as group:
            for worker in range(AT_ONCE):
                group.create_task(work(f"worker-{worker}"))
    plain, ordered = statistics.median(usual), sorted(waits)
    extra = max(0.0, ordered[len(ordered) * 99 // 100] - plain)
    most = {"median of a list alone in ms": 1e3 * plain, "p99 of the time that a list takes longer in ms": 1e3 * extra}
    return Outcome({"pairs": pairs, "stale lists": 0}, {name: round(figure, 1) for name, figure in most.items()})


async def _write(client: aiohttp.ClientSession, url: str, name: str, value: str) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"worker": name}}}
    body["data"] = {"value": value}
    async with client.put(f"{url}{MAPS}/{name}", json=body) as answer:
        if answer.status < 300:
            return
        assert answer.status == 404, await answer.text()
    async with client.post(f"{url}{MAPS}", json=body) as answer:
        assert answer.status == 201, await answer.text()


async def _listed(client: aiohttp.ClientSession, url: str, name: str) -> str:
    async with client.get(f"{url}{MAPS}", params={"labelSelector": f"worker={name}"}) as answer:
        items = (await answer.json())["items"]
    return str(items[0]["data"]["value"]) if items else "nothing"


async def _list(client: aiohttp.ClientSession, url: str, name: str) -> float:
    begun = time.perf_counter()
    await _listed(client, url, name)
    return time.perf_counter() - begun
