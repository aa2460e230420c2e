"""The long runs, `make soak`: what the tests do a few times, hundreds and thousands of times.

    python -m tests.soak [names] [--kills 200] [--hand-offs 10000] [--histories 50] [--watch-runs 100] [--cycles 1000]
        [--interrupts 200] [--attack-seconds 100] [--starts 100] [--pairs 20000] [--restarts 10]
        [--fuzzed-requests 200000] [--examples 20] [--fuzzed-inputs 100000] [--seed 0]

Names pick parts ("kill-nine.sqlite") or all below a name ("hand-offs"). Each part prints a line about what it has seen;
the exit status is 1 when one has failed. The seed decides what is tried; when it is tried, the machine decides.
"""

import argparse
import asyncio
import logging
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import uvloop

from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.clock import ManualClock
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.interface import Storage
from aio_apiserver.storage.kv.etcd import EtcdConfig
from aio_apiserver.storage.kv.memory import MemoryKV
from tests.apiserver import neighbours
from tests.apiserver.replicas import cross_reads, killed_starts, rolling_load
from tests.apiserver.testing import cycles
from tests.apiserver.workers import kill_rounds
from tests.attacks import overload, rows
from tests.fuzz import fuzz_runs
from tests.golden import replay, servers
from tests.reliability import long_runs
from tests.storage.cacher.cachers import cacher_on
from tests.storage.cacher.hand_offs import HandOffs, hand_over
from tests.storage.cacher.troubled import Troubled, make_trouble
from tests.storage.kv import kill_nine
from tests.storage.kv.etcd_server import Member
from tests.storage.steps import WIDGETS
from tests.storage.stores import store_on

PART_SECONDS = 3600.0
"""A part that takes longer hangs."""


async def kills_on_sqlite(arguments: argparse.Namespace) -> str:
    return str(await kill_nine.run("sqlite", rounds=arguments.kills, seed=arguments.seed))


async def kills_on_etcd(arguments: argparse.Namespace) -> str:
    return str(await kill_nine.run("etcd", rounds=arguments.kills, seed=arguments.seed))


async def kills_of_workers(arguments: argparse.Namespace) -> str:
    """A server with two workers, one of which is killed. A round takes as long as ten of the others."""
    with tempfile.TemporaryDirectory(prefix="soak-") as directory:
        return await kill_rounds.run(Path(directory), rounds=max(arguments.kills // 10, 1), seed=arguments.seed)


async def histories_of_workers(arguments: argparse.Namespace) -> str:
    """Two workers on SQLite that are killed all the time."""
    with tempfile.TemporaryDirectory(prefix="soak-") as directory:
        return await kill_rounds.collect_histories(Path(directory), runs=arguments.histories, seed=arguments.seed)


async def hand_offs_in_memory(arguments: argparse.Namespace) -> str:
    return await _hand_offs([StorageConfig()], arguments)


async def hand_offs_on_sqlite(arguments: argparse.Namespace) -> str:
    with tempfile.TemporaryDirectory(prefix="soak-") as directory:
        return await _hand_offs([StorageConfig(data_dir=Path(directory))], arguments)


async def hand_offs_on_etcd(arguments: argparse.Namespace) -> str:
    """Two servers on one etcd."""
    with Member() as member:
        config = StorageConfig(etcd=EtcdConfig(endpoints=[member.endpoint]))
        return await _hand_offs([config, config], arguments)


async def hand_offs_in_trouble(arguments: argparse.Namespace) -> str:
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


async def cycles_of_servers(arguments: argparse.Namespace) -> str:
    """Servers within one process, one after the other."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", cycles.__name__, str(arguments.cycles), str(arguments.seed)),
        env={**os.environ, "MALLOC_ARENA_MAX": "1"},
        stdout=subprocess.PIPE,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, "servers leave something behind"
    return said.decode()


async def cycles_of_programs(arguments: argparse.Namespace) -> str:
    """Programs that meet Ctrl-C at random moments."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        return await asyncio.to_thread(cycles.interrupt, arguments.interrupts, Path(folder), seed=arguments.seed)


async def _hand_offs(servers: Sequence[StorageConfig], arguments: argparse.Namespace) -> str:
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


def _told(done: HandOffs) -> str:
    return (
        f"{done.rounds} hand-offs: {done.events} events of {done.writes} writes, every copy equal to the final list; "
        f"{done.begun_again} began again"
    )


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


async def replicas_killed_at_start(arguments: argparse.Namespace) -> str:
    """Five replicas that start together on an empty etcd, some of which are killed meanwhile."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, Member() as etcd:
        rounds, seed = arguments.starts, arguments.seed
        return await killed_starts.start_with_kills(Path(folder), etcd, rounds=rounds, replicas=5, kills=2, seed=seed)


async def replicas_read_after_writes(arguments: argparse.Namespace) -> str:
    """Writes on one replica and lists on another one."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, Member() as etcd:
        return await cross_reads.read_after_writes(Path(folder), etcd, pairs=arguments.pairs)


async def replicas_restart_in_turns(arguments: argparse.Namespace) -> str:
    """Restarts of two replicas behind a balancer, under 500 requests a second and 200 watches."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, Member() as etcd:
        return await rolling_load.restart_under_load(
            Path(folder), etcd, per_second=500, watches=200, restarts=arguments.restarts
        )


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


def attack_of(name: str, count: int) -> "Part":
    """One attack of tests/attacks/attackers.py beside another user's requests, and the memory of the server."""

    async def part(arguments: argparse.Namespace) -> str:
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            return await rows.row(name, Path(folder), count=count, seconds=arguments.attack_seconds / 10)

    return part


async def overloaded(arguments: argparse.Namespace) -> str:
    """2,000 connections that list 10,000 pods, beside a lease renewer, an administrator and a kubelet."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        seconds = arguments.attack_seconds / 5
        return await overload.run(Path(folder), connections=2_000, pods=10_000, seconds=seconds)


Part = Callable[[argparse.Namespace], Awaitable[str]]

PARTS: Mapping[str, Part] = {
    "kill-nine.sqlite": kills_on_sqlite,
    "kill-nine.etcd": kills_on_etcd,
    "kill-nine.workers": kills_of_workers,
    "hand-offs.memory": hand_offs_in_memory,
    "hand-offs.sqlite": hand_offs_on_sqlite,
    "hand-offs.etcd": hand_offs_on_etcd,
    "hand-offs.trouble": hand_offs_in_trouble,
    "cycles.servers": cycles_of_servers,
    "cycles.programs": cycles_of_programs,
    "linearizability.one": long_runs.on_one_server,
    "linearizability.replicas": long_runs.on_replicas,
    "linearizability.workers": histories_of_workers,
    "linearizability.cluster": long_runs.on_a_cluster_in_trouble,
    "watches.one": long_runs.watches_on_one_server,
    "watches.replicas": long_runs.watches_on_replicas,
    **{f"minors.{minor}": partial(replays_of_a_minor, minor) for minor in replay.MINORS},
    "storms.restart": long_runs.storm,
    "replicas.starts": replicas_killed_at_start,
    "replicas.reads": replicas_read_after_writes,
    "replicas.restarts": replicas_restart_in_turns,
    "neighbours.job": neighbours_of_a_job,
    "neighbours.nodes": neighbours_of_nodes,
    "neighbours.bodies": neighbours_of_bodies,
    "fuzz.requests": fuzzed_requests,
    "fuzz.openapi": described_requests,
    "fuzz.targets": fuzzed_targets,
    "attacks.watchers": attack_of("watchers", 2_000),
    "attacks.selections": attack_of("selections", 2_000),
    "attacks.starts": attack_of("starts", 500),
    "attacks.restarts": attack_of("restarts", 50),
    "attacks.slow": attack_of("slow", 3_000),
    "attacks.lists": attack_of("lists", 1_000),
    "attacks.selectors": attack_of("selectors", 8),
    "attacks.labels": attack_of("labels", 8),
    "attacks.documents": attack_of("documents", 8),
    "attacks.yamls": attack_of("yamls", 4),
    "overload": overloaded,
}


def main(words: Sequence[str]) -> int:
    arguments = _arguments(words)
    _silence()
    outcomes = [_run(name, arguments) for name in PARTS if _is_picked(name, arguments.names)]
    return 0 if all(outcomes) else 1


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="The long runs.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"parts to run: {', '.join(PARTS)}")
    parser.add_argument("--kills", type=int, default=200, help="kill -9 rounds a part")
    parser.add_argument("--hand-offs", type=int, default=10_000, help="list+watch hand-offs a part")
    parser.add_argument(
        "--histories", type=int, default=50, help="histories that are checked for linearizability, a part"
    )
    parser.add_argument("--watch-runs", type=int, default=100, help="runs of 200 watchers, a part")
    parser.add_argument("--cycles", type=int, default=1_000, help="starts and stops of a server")
    parser.add_argument("--interrupts", type=int, default=200, help="programs that are interrupted")
    parser.add_argument("--attack-seconds", type=float, default=100.0, help="how long a server is attacked")
    parser.add_argument("--starts", type=int, default=100, help="starts of five replicas")
    parser.add_argument("--pairs", type=int, default=20_000, help="writes on one replica and lists on another")
    parser.add_argument("--restarts", type=int, default=10, help="restarts of replicas behind a balancer")
    parser.add_argument("--fuzzed-requests", type=int, default=200_000)
    parser.add_argument("--examples", type=int, default=20, help="requests for each operation of the OpenAPI documents")
    parser.add_argument("--fuzzed-inputs", type=int, default=100_000, help="inputs for each function that reads bytes")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(words)
    for name in arguments.names:
        if not any(_is_picked(part, [name]) for part in PARTS):
            parser.error(f"no part is called {name}; there are {', '.join(PARTS)}")
    return arguments


def _silence() -> None:
    """Warnings are of no interest where trouble is made on purpose."""
    logging.getLogger("storage").setLevel(logging.ERROR)


def _is_picked(part: str, names: Sequence[str]) -> bool:
    return not names or any(part == name or part.startswith(f"{name}.") for name in names)


def _run(name: str, arguments: argparse.Namespace) -> bool:
    """Run a part on an event loop of its own, and tell what has come of it; whether that is good."""
    begun = time.monotonic()
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            summary = runner.run(_in_time(PARTS[name](arguments)))
    except Exception:  # noqa: BLE001 - whatever went wrong is told, and the other parts run all the same
        traceback.print_exc()
        _tell(name, "FAILED", begun)
        return False
    _tell(name, summary, begun)
    return True


async def _in_time(work: Awaitable[str]) -> str:
    async with asyncio.timeout(PART_SECONDS):
        return await work


def _tell(name: str, outcome: str, begun: float) -> None:
    sys.stdout.write(f"{name:18}  {time.monotonic() - begun:6.1f} s  {outcome}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
