"""Servers that start together on one empty etcd, and one that starts after another was killed during its start."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from tests.registry.controlplane.bootstrap.test_upkeep import ADVERTISED, Begun
from tests.storage.kv.etcd_server import Member

SERVICES = ResourcePath("", "v1", "services")
ADDRESSES = ResourcePath("networking.k8s.io", "v1", "ipaddresses")
REPLICAS = 5
LIMIT = 30.0
"""Seconds: half of the time for which the repair leaves an address without a service alone."""


@pytest.fixture(scope="module")
def etcd(etcd_binary: Path) -> Iterator[Member]:
    with Member(binary=etcd_binary) as member:
        yield member


@asynccontextmanager
async def replicas(etcd: Member, prefix: str, *, count: int) -> AsyncIterator[Sequence[Begun]]:
    """Servers before their start, each with its own connections and caches."""
    config = StorageConfig(etcd=EtcdConfig(endpoints=[etcd.endpoint]), prefix=prefix)
    async with AsyncExitStack() as stack:
        factories = [await stack.enter_async_context(StorageFactory(config)) for _ in range(count)]
        servers = []
        for factory in factories:
            servers.append(Begun(factory))
            stack.push_async_callback(servers[-1].upkeep.close)
            await asyncio.sleep(0)  # one assembly in each turn of the loop, as in one process each
        yield servers


async def found(server: Begun) -> tuple[list[str], list[str]]:
    """The services, and the addresses that are taken."""
    services = await server.client.all(SERVICES, namespace="default")
    addresses = await server.client.all(ADDRESSES)
    return [one["metadata"]["name"] for one in services], [one["metadata"]["name"] for one in addresses]


@pytest.mark.parametrize("number", range(10))
async def test_all_servers_that_begin_together_come_up(etcd: Member, number: int) -> None:
    async with replicas(etcd, f"/round-{number}", count=REPLICAS) as servers:
        await asyncio.gather(*(server.upkeep.begin(ADVERTISED) for server in servers))

        assert [await found(server) for server in servers] == [(["kubernetes"], ["10.0.0.1"])] * REPLICAS


async def test_an_address_that_a_killed_server_took_holds_up_no_start(etcd: Member) -> None:
    async with replicas(etcd, "/killed", count=2) as (first, second), asyncio.timeout(LIMIT):
        await first.upkeep.begin(ADVERTISED)
        await remove(etcd, b"/killed/services/specs/default/kubernetes")

        await second.upkeep.begin(ADVERTISED)

        assert await found(second) == (["kubernetes"], ["10.0.0.1"])


async def remove(etcd: Member, key: bytes) -> None:
    """Delete an object without the servers."""
    kv = EtcdKV(EtcdConfig(endpoints=[etcd.endpoint]))
    present = (await kv.get(key)).record
    assert present is not None
    await kv.delete(key, expected_mod_revision=present.mod_revision)
    await kv.close()
