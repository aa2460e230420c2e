"""Kill rounds: one of two workers is killed at a random moment while clients write and watch, again and again.

After each kill, a watch at the other worker has seen every acknowledged write once and in order, all of them are in a
list, and revisions have grown. Reads and writes of many clients are linearizable over the kills.
"""

import asyncio
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL
from typing import Any

from tests import program
from tests.apiserver.workers.running import CONFIG_MAPS, Address, Connection
from tests.reliability import histories
from tests.reliability.outcomes import Outcome
from tests.reliability.tally import Tally

_MOST_BEFORE, _AFTER = 60, 40
"""Acknowledged writes before and after a kill."""
_OPERATIONS = 2_000
_PAUSES = (0.2, 2.0)
_FLAGS = ("--workers=2", "--bind-address=127.0.0.1")


@dataclass(slots=True)
class Writer:
    """Writes at one worker, and connects again when the worker was killed."""

    address: Address
    worker: int
    name: str
    acknowledged: list[Any] = field(default_factory=list)
    failures: int = 0

    async def write(self) -> None:
        """Create objects until cancelled."""
        connection: Connection | None = None
        number = 0
        while True:
            number += 1
            try:
                connection = connection or await self.address.connect_to(self.worker)
                body = {"metadata": {"name": f"{self.name}-{number}"}}
                answer = await connection.ask(CONFIG_MAPS, method="POST", body=body)
            except (ConnectionError, EOFError, ValueError):  # the worker was killed
                connection, self.failures = None, self.failures + 1
                continue
            if answer.status == 201:
                self.acknowledged.append(answer.json["metadata"])
            else:
                assert answer.json["details"]["retryAfterSeconds"] > 0, answer.text
                self.failures += 1


async def run(directory: Path, *, rounds: int, seed: int) -> Outcome:
    """Run the rounds on one server."""
    chance = random.Random(seed)
    writes = failures = 0
    with program.running(directory, *_FLAGS) as started:
        address = address_of(started, directory)
        for number in range(rounds):
            writers = [Writer(address, worker, f"r{number}-w{worker}") for worker in (0, 1)]
            await _round(address, writers, killed=chance.randrange(2), before=chance.randrange(1, _MOST_BEFORE))
            writes += sum(len(writer.acknowledged) for writer in writers)
            failures += sum(writer.failures for writer in writers)
    return Outcome({"kills": rounds, "acknowledged writes": writes, "failed writes": failures, "lost writes": 0})


async def collect_histories(directory: Path, *, runs: int, seed: int) -> Outcome:
    """Histories of many clients while the workers are killed."""
    tally = Tally()
    with program.running(directory, *_FLAGS) as started:
        address = address_of(started, directory)
        for run_seed in range(seed, seed + runs):
            async with killing(address, seed=run_seed, seconds=_PAUSES):
                found = await histories.collect([address.replica], operations=_OPERATIONS, seed=run_seed)
            tally.add(found)
    return tally.outcome()


@asynccontextmanager
async def killing(address: Address, *, seed: int, seconds: tuple[float, float]) -> AsyncIterator[None]:
    """Meanwhile, kill one worker after the other. seconds: the shortest and the longest time until the next one.

    Raises what has ended the killing before.
    """
    task = asyncio.create_task(_kill_for_ever(address, random.Random(seed), seconds))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()


def address_of(started: program.Program, directory: Path) -> Address:
    """A server with its data in a directory."""
    return Address(directory, int(started.url.rpartition(":")[2]), started.process.pid)


async def _kill_for_ever(address: Address, chance: random.Random, seconds: tuple[float, float]) -> None:
    while True:
        await asyncio.sleep(chance.uniform(*seconds))
        if workers := list(address.workers):
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(chance.choice(workers), SIGKILL)


async def _round(address: Address, writers: list[Writer], *, killed: int, before: int) -> None:
    watching = await address.connect_to(1 - killed)
    asking = await address.connect_to(1 - killed)
    begin = (await asking.ask(CONFIG_MAPS)).json["metadata"]["resourceVersion"]
    await watching.watch(CONFIG_MAPS, revision=begin)
    async with asyncio.TaskGroup() as tasks:
        writing = [tasks.create_task(writer.write()) for writer in writers]
        await _until(writers, before)
        os.kill(next(pid for pid, number in address.workers.items() if number == killed), SIGKILL)
        await _until(writers, before + _AFTER)
        for task in writing:
            task.cancel()
    acknowledged = {metadata["name"]: metadata for writer in writers for metadata in writer.acknowledged}

    await _check_watch(watching, acknowledged)
    listed = (await asking.ask(CONFIG_MAPS)).json
    assert acknowledged.items() <= {item["metadata"]["name"]: item["metadata"] for item in listed["items"]}.items()
    for writer in writers:
        revisions = [int(metadata["resourceVersion"]) for metadata in writer.acknowledged]
        assert revisions == sorted(set(revisions))
        assert not revisions or int(begin) < revisions[0] <= int(listed["metadata"]["resourceVersion"])
    assert (await asking.ask(CONFIG_MAPS, method="DELETE")).status == 200
    while (await asking.ask("/readyz/workers")).status != 200:
        pass
    await watching.close()
    await asking.close()


async def _until(writers: list[Writer], count: int) -> None:
    """Wait until clients have so many acknowledged writes."""
    while sum(len(writer.acknowledged) for writer in writers) < count:  # noqa: ASYNC110 - some requests long
        await asyncio.sleep(0.001)


async def _check_watch(watching: Connection, acknowledged: dict[str, Any]) -> None:
    """Read events until all acknowledged writes were seen."""
    missing, newest = set(acknowledged), 0
    while missing:
        metadata = (await watching.event())["object"]["metadata"]
        assert int(metadata["resourceVersion"]) > newest, "an event came twice, or too late"
        newest = int(metadata["resourceVersion"])
        if metadata["name"] in missing:
            assert metadata == acknowledged[metadata["name"]]
            missing.remove(metadata["name"])
