"""soak_parts: the long runs by name: what the tests do a few times, hundreds and thousands of times.

A part takes the arguments of `make soak` and tells what it has seen. Must hold: a part raises AssertionError when a
promise was broken.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from msgspec import Struct

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.interface import Storage
from aio_apiserver.storage.kv.etcd import EtcdConfig
from aio_apiserver.storage.kv.memory import MemoryKV
from tests.apiserver import neighbours
from tests.apiserver.replicas import cross_reads, killed_starts, rolling_load
from tests.apiserver.workers import kill_rounds
from tests.attacks import large_definitions, many_writers, overload, rows
from tests.docs import following
from tests.fuzz import fuzz_runs
from tests.golden import replay, servers
from tests.reliability import differential, kills, long_runs, long_watches
from tests.reliability.outcomes import Outcome
from tests.simulation import large_cluster
from tests.storage.cacher.cachers import cacher_on
from tests.storage.cacher.hand_offs import HandOffs, hand_over
from tests.storage.cacher.troubled import Troubled, make_trouble
from tests.storage.kv import kill_nine, torn_copies
from tests.storage.kv.etcd_server import Member, newest_binary
from tests.storage.steps import WIDGETS
from tests.storage.stores import store_on
from tests.testing import cycles


async def kills_of_the_engine(engine: str, arguments: argparse.Namespace) -> Outcome:
    """A process that writes to the store as fast as it can."""
    return (await kill_nine.run(engine, rounds=arguments.kills, seed=arguments.seed)).outcome()


async def copies_of_a_store(arguments: argparse.Namespace) -> Outcome:
    """Copies of the files of a store that is written to."""
    return await torn_copies.run(rounds=arguments.copies, seed=arguments.seed)


async def kills_of_servers(arguments: argparse.Namespace, *, workers: int, on_etcd: bool) -> Outcome:
    """A server under 200 writes a second."""
    with tempfile.TemporaryDirectory(prefix="soak-") as directory:
        return await kills.run(
            Path(directory), rounds=arguments.server_kills, workers=workers, on_etcd=on_etcd, seed=arguments.seed
        )


async def kills_of_workers(arguments: argparse.Namespace) -> Outcome:
    """A server with two workers, one of which is killed while a watch follows the other."""
    with tempfile.TemporaryDirectory(prefix="soak-") as directory:
        return await kill_rounds.run(Path(directory), rounds=arguments.worker_kills, seed=arguments.seed)


async def histories_of_workers(arguments: argparse.Namespace) -> Outcome:
    """Two workers on SQLite that are killed all the time."""
    with tempfile.TemporaryDirectory(prefix="soak-") as directory:
        return await kill_rounds.collect_histories(Path(directory), runs=arguments.histories, seed=arguments.seed)


async def hand_offs_in_memory(arguments: argparse.Namespace) -> Outcome:
    return await _hand_offs([StorageConfig()], arguments)


async def hand_offs_on_sqlite(arguments: argparse.Namespace) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="soak-") as directory:
        return await _hand_offs([StorageConfig(data_dir=Path(directory))], arguments)


async def hand_offs_on_etcd(arguments: argparse.Namespace) -> Outcome:
    """Two servers on one etcd."""
    with Member() as member:
        config = StorageConfig(etcd=EtcdConfig(endpoints=[member.endpoint]))
        return await _hand_offs([config, config], arguments)


async def hand_offs_in_trouble(arguments: argparse.Namespace) -> Outcome:
    """Two servers that lose the store, and their history, again and again."""
    clock = ManualClock()
    kv = MemoryKV(clock=clock)
    origins = [Troubled(store_on(kv, clock=clock)) for _ in range(2)]
    async with cacher_on(origins[0], clock) as here, cacher_on(origins[1], clock) as there:
        trouble = asyncio.ensure_future(make_trouble(origins, kv, clock, seed=arguments.seed))
        try:
            writers: list[Storage] = [here, there, store_on(kv, clock=clock)]
            done = await hand_over([here, there], writers, rounds=arguments.hand_offs, seed=arguments.seed)
        finally:
            trouble.cancel()
    await kv.close()
    return _told(done)


async def cycles_of_servers(arguments: argparse.Namespace) -> Outcome:
    """Servers within one process, one after the other."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", cycles.__name__, str(arguments.cycles), str(arguments.seed)),
        env={**os.environ, "MALLOC_ARENA_MAX": "1"},
        stdout=subprocess.PIPE,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, "servers leave something behind"
    return Outcome({"starts and stops": arguments.cycles, "cycles that left something": 0}, text=said.decode())


async def cycles_of_programs(arguments: argparse.Namespace) -> Outcome:
    """Programs that meet Ctrl-C at random moments, 16 at once."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        return await asyncio.to_thread(cycles.interrupt, arguments.interrupts, Path(folder), seed=arguments.seed)


async def _hand_offs(servers: Sequence[StorageConfig], arguments: argparse.Namespace) -> Outcome:
    """Hand-offs on the Cachers of all servers, which all write as well."""
    async with AsyncExitStack() as stack:
        cachers: list[Storage] = [await _cacher(stack, config) for config in servers]
        done = await hand_over(cachers, cachers * 2, rounds=arguments.hand_offs, seed=arguments.seed)
    assert not done.begun_again, "a watch ended though nothing went wrong"
    return _told(done)


async def _cacher(stack: AsyncExitStack, config: StorageConfig) -> Cacher:
    factory = await stack.enter_async_context(StorageFactory(config))
    storage = factory.storage_for(WIDGETS)
    assert isinstance(storage, Cacher)
    return storage


def _told(done: HandOffs) -> Outcome:
    counts = {"hand-offs": done.rounds, "events": done.events, "writes": done.writes, "begun again": done.begun_again}
    return Outcome({**counts, "copies that differ from the final list": 0})


async def neighbours_of_a_job(arguments: argparse.Namespace) -> str:
    """A job of 20,000 pods, beside clients that must not notice."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        return await neighbours.job_attack(Path(folder), parallelism=20_000, seconds=arguments.attack_seconds)


async def neighbours_of_nodes(arguments: argparse.Namespace) -> str:
    """A simulated cluster of 5,000 nodes and 10,000 pods whose controllers have no limit: figures, no bound."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        seconds = arguments.attack_seconds
        return await neighbours.nodes_attack(Path(folder), nodes=5_000, replicas=10_000, seconds=seconds)


async def neighbours_of_bodies(arguments: argparse.Namespace) -> str:
    """Objects with the managed fields of 500 to 9,000 managers, beside another user's objects of 70 KB."""
    told = []
    for entries in (500, 1_000, 2_000, 9_000):
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            seconds = arguments.attack_seconds / 10
            told.append(await neighbours.bodies_attack(Path(folder), entries=entries, seconds=seconds))
    return "\n  ".join(["", *told])


async def replays_of_a_minor(minor: str, arguments: argparse.Namespace) -> str:
    """All recorded steps of kube-apiserver of a minor, to a server of that minor."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        return await asyncio.to_thread(_replayed, minor, Path(folder))


def _replayed(minor: str, folder: Path) -> str:
    steps = 0
    with servers.running(folder, f"--kubernetes-version={minor}") as url:
        for area in replay.AREAS:
            outcomes = replay.play_calmly(url, area, minor=minor)
            steps += sum(map(len, outcomes.values()))
            assert not (found := replay.unlisted(area, outcomes, minor)), found
    return f"{steps} steps of Kubernetes {minor} answered as recorded, but for the listed differences"


async def replicas_killed_at_start(arguments: argparse.Namespace) -> Outcome:
    """Five replicas that start together on an empty etcd, some of which are killed meanwhile."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, Member(binary=newest_binary()) as etcd:
        rounds, seed = arguments.starts, arguments.seed
        return await killed_starts.start_with_kills(Path(folder), etcd, rounds=rounds, replicas=5, kills=2, seed=seed)


async def replicas_read_after_writes(arguments: argparse.Namespace) -> Outcome:
    """Writes on one replica and lists on another one."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, Member(binary=newest_binary()) as etcd:
        return await cross_reads.read_after_writes(Path(folder), etcd, pairs=arguments.pairs)


async def replicas_restart_in_turns(arguments: argparse.Namespace) -> Outcome:
    """Restarts of two replicas behind a balancer, under 500 requests a second and 200 watches."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, Member(binary=newest_binary()) as etcd:
        return await rolling_load.restart_under_load(
            Path(folder), etcd, per_second=500, watches=200, restarts=arguments.restarts
        )


async def differential_requests(arguments: argparse.Namespace) -> Outcome:
    """Generated requests to this server and to the kube-apiserver that KUBE_APISERVER names."""
    return await differential.run(requests=arguments.requests, seed=arguments.seed)


async def fuzzed_requests(arguments: argparse.Namespace) -> str:
    """Recorded requests that went wrong."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        return await fuzz_runs.requests(Path(folder), count=arguments.fuzzed_requests, seed=arguments.seed)


async def described_requests(arguments: argparse.Namespace) -> str:
    """Requests that follow the OpenAPI documents."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        return await fuzz_runs.described(Path(folder), examples=arguments.examples, seed=arguments.seed)


async def fuzzed_targets(arguments: argparse.Namespace) -> str:
    """Decoders, parsers, selectors and patches."""
    return await fuzz_runs.guided(runs=arguments.fuzzed_inputs, seed=arguments.seed)


def attack_of(name: str, count: int) -> "Work":
    """One attack of tests/attacks/attackers.py beside another user's requests, and the memory of the server."""

    async def part(arguments: argparse.Namespace) -> str:
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            return await rows.row(name, Path(folder), count=count, seconds=arguments.attack_seconds / 10)

    return part


async def followed_pages(arguments: argparse.Namespace) -> str:
    """README, the first steps and the tutorials, command for command in a fresh clone."""
    assert not await following.main(following.FOLLOWED), "a page is wrong"
    return f"{len(following.FOLLOWED)} pages say what happens"


async def overloaded(arguments: argparse.Namespace) -> str:
    """2,000 connections that list 10,000 pods, beside a lease renewer, an administrator and a kubelet."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        seconds = arguments.attack_seconds / 5
        return await overload.run(Path(folder), connections=2_000, pods=10_000, seconds=seconds)


async def many_writers_beside_renewals(arguments: argparse.Namespace) -> str:
    """Writers of one user, anonymous and too many, beside readers and the renewals of nodes."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        return await many_writers.run(Path(folder), seconds=arguments.attack_seconds / 10)


async def large_clusters(arguments: argparse.Namespace) -> str:
    """5,000 simulated nodes and 10,000 pods, within the limits of kwok's benchmark."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        return await large_cluster.run(Path(folder), nodes=5_000, pods=10_000)


async def large_definitions_read(arguments: argparse.Namespace) -> str:
    """Documents about 120 definitions of custom resources with the schema of a pod, beside another client."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        return await large_definitions.run(Path(folder), count=120, tries=3)


Work = Callable[[argparse.Namespace], Awaitable[Outcome | str]]


class Part(Struct, frozen=True):
    """A part. much: the argument that says how much of it is wanted. at_once: how much one run does of that.

    needs: the environment variable without which it is left out.
    """

    work: Work
    much: str = ""
    at_once: int = 0
    needs: str = ""

    def wanted(self, arguments: argparse.Namespace) -> int:
        """How much is wanted. A part without an argument for it is done once."""
        return int(getattr(arguments, self.much)) if self.much else 1


PARTS: Mapping[str, Part] = {
    "kill-nine.sqlite": Part(partial(kills_of_the_engine, "sqlite"), "kills", 50),
    "kill-nine.etcd": Part(partial(kills_of_the_engine, "etcd"), "kills", 50),
    "copies.sqlite": Part(copies_of_a_store, "copies", 50),
    "kill-nine.workers": Part(kills_of_workers, "worker_kills", 10),
    **{
        f"kills.{name}": Part(partial(kills_of_servers, workers=workers, on_etcd=on_etcd), "server_kills", 5)
        for name, workers, on_etcd in (
            ("sqlite", 1, False),
            ("sqlite-workers", 2, False),
            ("etcd", 1, True),
            ("etcd-workers", 2, True),
        )
    },
    "hand-offs.memory": Part(hand_offs_in_memory, "hand_offs", 2_000),
    "hand-offs.sqlite": Part(hand_offs_on_sqlite, "hand_offs", 2_000),
    "hand-offs.etcd": Part(hand_offs_on_etcd, "hand_offs", 2_000),
    "hand-offs.trouble": Part(hand_offs_in_trouble, "hand_offs", 2_000),
    "informers.one": Part(long_runs.informers_of_one_server, "informers", 100),
    "informers.replicas": Part(long_runs.informers_of_replicas, "informers", 100),
    "lists.pages": Part(long_runs.lists_in_pages, "lists", 500),
    "cycles.servers": Part(cycles_of_servers, "cycles", 250),
    "cycles.programs": Part(cycles_of_programs, "interrupts", 50),
    "linearizability.one": Part(long_runs.on_one_server, "histories", 5),
    "linearizability.replicas": Part(long_runs.on_replicas, "histories", 5),
    "linearizability.workers": Part(histories_of_workers, "histories", 5),
    "linearizability.cluster": Part(long_runs.on_a_cluster_in_trouble, "histories", 2),
    "watches.one": Part(long_runs.watches_on_one_server, "watch_runs", 1),
    "watches.replicas": Part(long_runs.watches_on_replicas, "watch_runs", 1),
    "watches.long": Part(long_watches.of_one_server, "long_watch_runs", 1),
    "watches.long-replicas": Part(long_watches.of_replicas, "long_watch_runs", 1),
    "watches.long-workers": Part(long_watches.of_workers, "long_watch_runs", 1),
    "watches.cluster": Part(long_runs.watches_on_a_cluster_in_trouble, "troubled_watch_runs", 1),
    "watches.left-behind": Part(long_runs.watches_left_behind, "losses", 20),
    **{f"minors.{minor}": Part(partial(replays_of_a_minor, minor)) for minor in replay.MINORS},
    "aging.sqlite": Part(long_runs.aging_of_a_store, "lease_updates", 1_000_000),
    "differential": Part(differential_requests, "requests", 1_000, needs="KUBE_APISERVER"),
    "storms.restart": Part(long_runs.storm),
    "replicas.starts": Part(replicas_killed_at_start, "starts", 20),
    "replicas.reads": Part(replicas_read_after_writes, "pairs", 5_000),
    "replicas.restarts": Part(replicas_restart_in_turns, "restarts", 10),
    "neighbours.job": Part(neighbours_of_a_job),
    "neighbours.nodes": Part(neighbours_of_nodes),
    "neighbours.bodies": Part(neighbours_of_bodies),
    "fuzz.requests": Part(fuzzed_requests, "fuzzed_requests", 200_000),
    "fuzz.openapi": Part(described_requests),
    "fuzz.targets": Part(fuzzed_targets),
    "attacks.watchers": Part(attack_of("watchers", 2_000)),
    "attacks.selections": Part(attack_of("selections", 2_000)),
    "attacks.starts": Part(attack_of("starts", 500)),
    "attacks.restarts": Part(attack_of("restarts", 50)),
    "attacks.slow": Part(attack_of("slow", 3_000)),
    "attacks.lists": Part(attack_of("lists", 1_000)),
    "attacks.selectors": Part(attack_of("selectors", 8)),
    "attacks.labels": Part(attack_of("labels", 8)),
    "attacks.documents": Part(attack_of("documents", 8)),
    "attacks.yamls": Part(attack_of("yamls", 4)),
    "attacks.pipelines": Part(attack_of("pipelines", 200)),
    "attacks.halves": Part(attack_of("halves", 100)),
    "attacks.containers": Part(attack_of("containers", 1)),
    "attacks.tables": Part(attack_of("tables", 1)),
    "attacks.rewrites": Part(attack_of("rewrites", 2_400)),
    "attacks.answers": Part(attack_of("answers", 10)),
    "attacks.logs": Part(attack_of("logs", 10)),
    "attacks.handshakes": Part(attack_of("handshakes", 10)),
    "attacks.hellos": Part(attack_of("hellos", 1_000)),
    "attacks.records": Part(attack_of("records", 10)),
    "attacks.paths": Part(attack_of("paths", 20)),
    "attacks.timelines": Part(attack_of("timelines", 10)),
    "attacks.reports": Part(attack_of("reports", 10)),
    "attacks.writers": Part(many_writers_beside_renewals),
    "definitions": Part(large_definitions_read),
    "large-cluster": Part(large_clusters),
    "overload": Part(overloaded),
    "pages": Part(followed_pages),
}
