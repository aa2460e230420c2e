"""kills: a server that is killed with SIGKILL while clients write 200 times a second, again and again.

The store is a SQLite file or etcd, and the server has one process or two workers. Of workers, one is killed, all of
them, or their supervisor alone; of a server on etcd, the server or etcd. Must hold: after each kill, each object is as
its last acknowledged write left it, or as a later write did whose answer was lost. No resourceVersion goes back.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from tests.reliability import histories
from tests.reliability.histories import MAPS
from tests.reliability.kill_target import READY_SECONDS, Target
from tests.reliability.kill_writers import CLIENTS, Totals, Writer
from tests.reliability.outcomes import Outcome
from tests.storage.kv.etcd_server import Member, newest_binary, version_of

_LONGEST = 1.0


async def run(directory: Path, *, rounds: int, workers: int, on_etcd: bool, seed: int) -> Outcome:
    """So many kills on one store. Raises AssertionError when an acknowledged write was lost."""
    chance = random.Random(seed)
    totals = Totals()
    writers = [Writer(number, seed, totals) for number in range(CLIENTS)]
    async with _target(directory, workers=workers, on_etcd=on_etcd) as target:
        for _ in range(rounds):
            await target.start()
            async with histories.session(target.replica) as session:
                await _check(session, writers, target, totals)
                await _write_and_kill(session, writers, target, totals, chance)
            totals.kills += 1
        await target.start()
        async with histories.session(target.replica) as session:
            await _check(session, writers, target, totals)
    return totals.outcome(f"etcd {'.'.join(map(str, version_of(newest_binary())))}" if on_etcd else "")


@asynccontextmanager
async def _target(directory: Path, *, workers: int, on_etcd: bool) -> AsyncIterator[Target]:
    async with AsyncExitStack() as stack:
        etcd = stack.enter_context(Member(fsync=True, binary=newest_binary())) if on_etcd else None
        target = Target(directory, workers=workers, etcd=etcd)
        stack.push_async_callback(target.close)
        yield target


async def _write_and_kill(
    session: aiohttp.ClientSession, writers: Sequence[Writer], target: Target, totals: Totals, chance: random.Random
) -> None:
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        for writer in writers:
            tasks.create_task(writer.work(session, stop))
        try:
            await asyncio.sleep(chance.uniform(0.02, _LONGEST))
            while not totals.acknowledged:  # noqa: ASYNC110 - in the first round of all, on a slow machine
                await asyncio.sleep(0.01)
            await target.kill(chance)
        finally:
            stop.set()


async def _check(session: aiohttp.ClientSession, writers: Sequence[Writer], target: Target, totals: Totals) -> None:
    """Compare a list with all claims."""
    listed = await _listed(session, target)
    assert int(listed["metadata"]["resourceVersion"]) >= totals.version, "the resourceVersion went back"
    found = {item["metadata"]["name"]: item["data"]["content"] for item in listed["items"]}
    for writer in writers:
        for name, claim in writer.claims.items():
            happened = claim.check(name, found.pop(name, None), is_final=target.has_ended)
            totals.in_doubt_and_written += happened
    assert not found, f"objects that no client wrote: {found}"


async def _listed(session: aiohttp.ClientSession, target: Target) -> Any:
    """A list, as soon as the server answers. A worker that was killed is replaced meanwhile."""
    async with asyncio.timeout(READY_SECONDS):
        while True:
            target.check_life()
            with suppress(aiohttp.ClientError, TimeoutError):
                async with session.get(MAPS) as response:
                    if response.status == 200:
                        return orjson.loads(await response.read())
            await asyncio.sleep(0.01)
