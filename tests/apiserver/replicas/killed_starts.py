"""Starts of several replicas on an empty etcd, some of which are killed in the middle of it: all come up."""

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path

from tests.apiserver.replicas.replica_programs import ReplicaProgram, replica_programs
from tests.reliability.outcomes import Outcome
from tests.storage.kv.etcd_server import Member

LONGEST_LIFE = 2.5
"""Seconds after which a replica is killed at the latest; a start alone on the machine takes less."""
PATIENCE = 60.0


async def start_with_kills(
    directory: Path, etcd: Member, *, rounds: int, replicas: int, kills: int, seed: int
) -> Outcome:
    """Start the replicas together, on an empty part of etcd in each round. Fails when one dies by itself."""
    chance = random.Random(seed)
    took: list[float] = []
    for number in range(rounds):
        place = directory / f"round-{number}"
        async with replica_programs(place, etcd, replicas, prefix=f"/round-{number}") as started:
            victims = chance.sample(list(started), kills)
            await asyncio.gather(*(replica.start() for replica in started))
            await asyncio.gather(*(_kill_and_restart(one, chance.uniform(0, LONGEST_LIFE)) for one in victims))
            begun = time.monotonic()
            await _all_ready(started)
            took.append(time.monotonic() - begun)
    counts = {
        "starts": rounds,
        "replicas": rounds * replicas,
        "of these killed": rounds * kills,
        "dead": 0,
        "starts later than 5 s": sum(seconds > 5 for seconds in took),
    }
    return Outcome(counts, {"seconds from the last restart until all are up": round(max(took), 2)})


async def _all_ready(started: Sequence[ReplicaProgram]) -> None:
    """Fails with the log of a replica that is not ready in time."""
    try:
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(replica.wait_until_ready() for replica in started))
    except TimeoutError:
        logs = [replica.log[-3000:] for replica in started if not replica.is_ready]
        raise AssertionError(f"not ready after {PATIENCE} s: {logs}") from None


async def _kill_and_restart(replica: ReplicaProgram, life: float) -> None:
    await asyncio.sleep(life)
    await replica.kill()
    await replica.start()
