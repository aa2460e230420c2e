"""long_watches: the runs of watchers with ten thousand writes each, on servers that are processes of their own.

The history is compacted all the time, but not where workers are killed: a new worker begins with an empty cache, and a
watcher that comes back to it with a compacted version gets 410, as at a new kube-apiserver.
"""

import argparse
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

from tests import program
from tests.apiserver.program import trusting
from tests.apiserver.replicas.replica_programs import TOKEN, replica_programs
from tests.apiserver.workers import kill_rounds
from tests.apiserver.workers.running import Address
from tests.reliability import watches
from tests.reliability.histories import Replica
from tests.reliability.outcomes import Outcome, sum_of
from tests.reliability.watches import Scale
from tests.storage.kv.etcd_server import HOST, Member, newest_binary

_SCALE = Scale(watchers=200, writes=10_000, names=40, cuts=0.005)
_PAUSES = (3.0, 9.0)
_COMPACTS = "--etcd-compaction-interval=500ms"

Trouble = Callable[[int], AbstractAsyncContextManager[None]]


async def of_one_server(arguments: argparse.Namespace) -> Outcome:
    """Watchers of one server on SQLite."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, _running(Path(folder), _COMPACTS) as server:
        return await _runs([server.replica], arguments)


async def of_replicas(arguments: argparse.Namespace) -> Outcome:
    """Watchers of two servers on one etcd, who resume at the one or the other."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, Member(binary=newest_binary()) as member:
        async with _replicas(Path(folder), member) as replicas:
            return await _runs(replicas, arguments)


async def of_workers(arguments: argparse.Namespace) -> Outcome:
    """Watchers of two workers on SQLite, one of which is killed every few seconds."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, _running(Path(folder), "--workers=2") as server:
        return await _runs(
            [server.replica], arguments, lambda seed: kill_rounds.killing(server, seed=seed, seconds=_PAUSES)
        )


async def _runs(replicas: Sequence[Replica], arguments: argparse.Namespace, trouble: Trouble | None = None) -> Outcome:
    seeds = range(arguments.seed, arguments.seed + arguments.long_watch_runs)
    return sum_of(
        [
            await watches.run(replicas, scale=_SCALE, seed=seed, trouble=trouble(seed) if trouble else None)
            for seed in seeds
        ]
    )


@contextmanager
def _running(directory: Path, *flags: str) -> Iterator[Address]:
    with program.running(directory, f"--bind-address={HOST}", *flags) as started:
        yield kill_rounds.address_of(started, directory)


@asynccontextmanager
async def _replicas(directory: Path, member: Member) -> AsyncIterator[Sequence[Replica]]:
    async with replica_programs(directory, member, 2, prefix="/watches", flags=[_COMPACTS]) as programs:
        for one in programs:
            await one.start()
            await one.wait_until_ready()
        yield [Replica(one.url, TOKEN, trusting(one.directory)) for one in programs]
