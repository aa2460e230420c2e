"""long_runs: histories and watches of many clients on one server, replicas and etcd in trouble, for `make soak`.

Must hold: a part fails when one history is not linearizable, and prints the beginning of that history.
"""

import argparse
import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from aio_apiserver.testing import Server
from aio_apiserver.testing.server_settings import ServerSettings
from tests.reliability import aging, chunks, histories, informers, left_behind, storms, watches
from tests.reliability.aging import Aging
from tests.reliability.histories import Histories, replica_of
from tests.reliability.outcomes import Outcome, sum_of
from tests.reliability.tally import Tally
from tests.reliability.watches import Scale
from tests.storage.kv import etcd_cluster, small_disk
from tests.storage.kv.etcd_cluster import PeerNetwork
from tests.storage.kv.etcd_server import HOST, Member, newest_binary
from tests.storage.kv.tcp_proxy import TcpProxy

OPERATIONS = 2_000
STORM = storms.Scale(informers=500, objects=50_000, namespaces=50)
WATCHERS = Scale(watchers=200, writes=1_000, names=40, cuts=0.005)
_DISK_MEGABYTES = 512
_TROUBLE_SECONDS = (0.3, 1.5)


async def on_one_server(arguments: argparse.Namespace) -> Outcome:
    """One server on SQLite."""
    found = Tally()
    async with Server(storage_backend="sqlite") as server:
        for seed in _seeds(arguments):
            found.add(await _collect([server], seed))
    return found.outcome()


async def on_replicas(arguments: argparse.Namespace) -> Outcome:
    """Two servers on one etcd."""
    found = Tally()
    with Member(binary=newest_binary()) as member:
        settings = ServerSettings(storage_backend="etcd3", etcd_servers=member.endpoint)
        async with Server(**settings) as one, Server(**settings) as other:
            for seed in _seeds(arguments):
                found.add(await _collect([one, other], seed))
    return found.outcome()


async def on_a_cluster_in_trouble(arguments: argparse.Namespace) -> Outcome:
    """Two servers on three etcd members, one of which is killed, frozen or cut off, again and again."""
    found = Tally()
    async with etcd_cluster.peer_network(newest_binary()) as network:
        settings = ServerSettings(storage_backend="etcd3", etcd_servers=network.cluster.endpoints)
        async with Server(**settings) as one, Server(**settings) as other:
            for seed in _seeds(arguments):
                async with _trouble(network, seed):
                    found.add(await _collect([one, other], seed))
                found.troubles += 1
    return found.outcome()


async def watches_on_one_server(arguments: argparse.Namespace) -> Outcome:
    """200 watchers of one server on SQLite that compacts its history all the time."""
    async with Server(storage_backend="sqlite", etcd_compaction_interval="500ms") as server:
        return await _watch([server], arguments)


async def watches_on_replicas(arguments: argparse.Namespace) -> Outcome:
    """200 watchers of two servers on one etcd."""
    with Member(binary=newest_binary()) as member:
        settings = ServerSettings(
            storage_backend="etcd3", etcd_servers=member.endpoint, etcd_compaction_interval="500ms"
        )
        async with Server(**settings) as one, Server(**settings) as other:
            return await _watch([one, other], arguments)


async def watches_on_a_cluster_in_trouble(arguments: argparse.Namespace) -> Outcome:
    """200 watchers of two servers on three etcd members, whose leader is killed, frozen or cut off."""
    async with etcd_cluster.peer_network(newest_binary()) as network:
        settings = ServerSettings(storage_backend="etcd3", etcd_servers=network.cluster.endpoints)
        async with Server(**settings) as one, Server(**settings) as other:
            replicas = [replica_of(one), replica_of(other)]
            return sum_of(
                [
                    await watches.run(replicas, scale=WATCHERS, seed=seed, trouble=_trouble(network, seed))
                    for seed in range(arguments.seed, arguments.seed + arguments.troubled_watch_runs)
                ]
            )


async def watches_left_behind(arguments: argparse.Namespace) -> Outcome:
    """Two servers on one etcd, one of which is cut off from it while etcd compacts its history."""
    with Member(binary=newest_binary()) as member:
        async with TcpProxy(member.client_port) as proxy:
            near = ServerSettings(storage_backend="etcd3", etcd_servers=member.endpoint)
            far = ServerSettings(storage_backend="etcd3", etcd_servers=f"http://{HOST}:{proxy.port}")
            async with Server(**near) as one, Server(**far) as other:
                return await left_behind.run(
                    replica_of(one),
                    replica_of(other),
                    proxy=proxy,
                    member=member,
                    rounds=arguments.losses,
                    seed=arguments.seed,
                )


async def informers_of_one_server(arguments: argparse.Namespace) -> Outcome:
    """Lists that are handed over to watches."""
    async with Server(storage_backend="sqlite") as server:
        return await informers.run([replica_of(server)], hand_offs=arguments.informers, seed=arguments.seed)


async def informers_of_replicas(arguments: argparse.Namespace) -> Outcome:
    """Two servers on one etcd."""
    with Member(binary=newest_binary()) as member:
        settings = ServerSettings(storage_backend="etcd3", etcd_servers=member.endpoint)
        async with Server(**settings) as one, Server(**settings) as other:
            replicas = [replica_of(one), replica_of(other)]
            return await informers.run(replicas, hand_offs=arguments.informers, seed=arguments.seed)


async def lists_in_pages(arguments: argparse.Namespace) -> Outcome:
    """A server that compacts its history twice a second."""
    async with Server(storage_backend="sqlite", etcd_compaction_interval="500ms") as server:
        return await chunks.run([replica_of(server)], lists=arguments.lists, seed=arguments.seed)


async def _watch(servers: Sequence[Server], arguments: argparse.Namespace) -> Outcome:
    replicas = list(map(replica_of, servers))
    return sum_of(
        [await watches.run(replicas, scale=WATCHERS, seed=arguments.seed + one) for one in range(arguments.watch_runs)]
    )


async def aging_of_a_store(arguments: argparse.Namespace) -> Outcome:
    """Lease updates in compressed time, on a small disk where one can be mounted."""
    with (
        tempfile.TemporaryDirectory(prefix="soak-") as folder,
        small_disk.mounted(Path(folder), megabytes=_DISK_MEGABYTES) as has_disk,
    ):
        found = await Aging(Path(folder) / "data", writes=arguments.lease_updates, has_disk=has_disk).run()
    assert found.most[aging.SHARE] <= 1, found
    assert found.most.get(aging.DRIFT, 0) <= 1.2, found
    return found


async def storm(_arguments: argparse.Namespace) -> Outcome:
    """500 informers of 50,000 objects, after a kill."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        found = await storms.run(Path(folder), STORM)
    assert found.synced <= 15, found
    assert found.peak <= 2 * found.memory, found
    most = {
        "seconds until all are synced": found.synced,
        "memory at most, of that in the end": found.peak / found.memory,
    }
    return Outcome({"informers": STORM.informers, "objects": STORM.objects}, most)


async def _collect(servers: Sequence[Server], seed: int) -> Histories:
    return await histories.collect(list(map(replica_of, servers)), operations=OPERATIONS, seed=seed)


@asynccontextmanager
async def _trouble(network: PeerNetwork, seed: int) -> AsyncIterator[None]:
    """Trouble for the leader, which is mended in the end."""
    trouble = asyncio.create_task(_make_trouble(network, random.Random(seed)))
    try:
        yield
    finally:
        trouble.cancel()
        await asyncio.wait([trouble])


async def _make_trouble(network: PeerNetwork, chance: random.Random) -> None:
    """Kill, freeze or isolate the leader, and mend it, until cancelled."""
    while True:
        leader = await etcd_cluster.leader_of(network.cluster)
        mend = network.heal
        match chance.choice(["kill", "freeze", "isolate"]):
            case "kill":
                await asyncio.to_thread(leader.crash)
                mend = leader.restart
            case "freeze":
                leader.pause()
                mend = leader.resume
            case _:
                await network.isolate(leader)
        try:
            await asyncio.sleep(chance.uniform(*_TROUBLE_SECONDS))
        finally:
            await asyncio.to_thread(mend)
        await asyncio.sleep(chance.uniform(*_TROUBLE_SECONDS))


def _seeds(arguments: argparse.Namespace) -> Sequence[int]:
    return range(arguments.seed, arguments.seed + arguments.histories)
