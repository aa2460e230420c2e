"""Kill -9: a process that writes is killed at a random moment, again and again, on one store.

    python -m tests.storage.kv.kill_nine --engine sqlite --rounds 200

After each kill the store is opened again. The revision has not decreased. Every acknowledged write is there, in the
present and in the history. A write that was tried and not acknowledged is there as a whole or not at all. The history
has one event for each revision. etcd has the data in another process, which is killed, too.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from aio_apiserver.storage.kv.interface import KV, Event, prefix_end
from tests.reliability.outcomes import Outcome
from tests.storage.kv.etcd_server import Member
from tests.storage.kv.kill_nine_writer import PREFIX, open_engine, payload
from tests.storage.kv.steps import take_until

ROOT = Path(__file__).parents[3]
MAX_ACKNOWLEDGEMENTS = 400
"""A round is killed after this many acknowledgements at most: some tenths of a second of writing."""


class Target(Protocol):
    """The store under test."""

    @property
    def engine(self) -> str: ...

    @property
    def where(self) -> str: ...

    def kill(self) -> None:
        """Kill the process that holds the data, unless the writer does."""

    def revive(self) -> None:
        """Start it again."""


@dataclass(slots=True)
class SqliteTarget:
    """A data directory; the writer itself holds the data."""

    where: str
    engine: str = "sqlite"

    def kill(self) -> None:
        return

    def revive(self) -> None:
        return


@dataclass(slots=True)
class EtcdTarget:
    """An etcd member that syncs its writes. It is killed as well, unless it could lose some by itself."""

    member: Member
    engine: str = "etcd"

    @property
    def where(self) -> str:
        return self.member.endpoint

    def kill(self) -> None:
        self.member.crash()

    def revive(self) -> None:
        self.member.start()


@dataclass(slots=True)
class Report:
    """The totals of all rounds."""

    rounds: int = 0
    acknowledged: int = 0
    in_doubt_and_written: int = 0
    revision: int = 1

    def outcome(self) -> Outcome:
        """The totals as the page of the long runs shows them."""
        counts = {
            "kills": self.rounds,
            "acknowledged writes": self.acknowledged,
            "unacknowledged writes in the store": self.in_doubt_and_written,
            "lost writes": 0,
            "revisions that went back": 0,
        }
        return Outcome(counts)


@dataclass(slots=True)
class Claims:
    """The output of a killed writer."""

    tried: dict[bytes, int] = field(default_factory=dict)
    """By key, the number of a try that was not acknowledged."""
    acknowledged: dict[int, tuple[bytes, int]] = field(default_factory=dict)
    """By revision: key and number."""
    is_open: bool = False

    def note(self, line: bytes) -> None:
        """Take a line of the writer's output."""
        match line.split():
            case [b"open", _]:
                self.is_open = True
            case [b"try", key, number]:
                self.tried[key] = int(number)
            case [b"ack", key, revision]:
                self.acknowledged[int(revision)] = key, self.tried.pop(key)

    def has_reached(self, acknowledgements: int) -> bool:
        """Whether to kill now: 0 as soon as the store is open, less than 0 while it is being opened."""
        return acknowledgements < 0 or (self.is_open and len(self.acknowledged) >= acknowledgements)


State = dict[bytes, int]
"""By key, the number of its value."""


class KillNine:
    """Rounds on one target."""

    def __init__(self, target: Target, *, seed: int) -> None:
        self.report = Report()
        self._target = target
        self._rng = random.Random(seed)
        self._state: State = {}

    async def round(self) -> None:
        """Let a writer run, kill it, and check the store."""
        claims = await self._write_and_kill(self._rng.randrange(-40, MAX_ACKNOWLEDGEMENTS))
        self._target.revive()
        kv = await open_engine(self._target.engine, self._target.where)
        try:
            await self._check(kv, claims)
        finally:
            await kv.close()
        self.report.rounds += 1
        self.report.acknowledged += len(claims.acknowledged)

    async def _write_and_kill(self, acknowledgements: int) -> Claims:
        """Kill after so many acknowledgements, as `has_reached` says."""
        writer = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tests.storage.kv.kill_nine_writer"),
            *(self._target.engine, self._target.where, str(self._rng.randrange(2**32))),
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert writer.stdout is not None
        claims = Claims()
        try:
            await _read_until(claims, writer.stdout, acknowledgements)
        finally:
            self._target.kill()
            writer.kill()
            rest, complaints = await writer.communicate()
        assert claims.has_reached(acknowledgements), complaints.decode()
        for line in rest.splitlines(keepends=True):
            claims.note(line if line.endswith(b"\n") else b"")
        return claims

    async def _check(self, kv: KV, claims: Claims) -> None:
        found = await kv.range(PREFIX, prefix_end(PREFIX))
        events = await _events(kv, self.report.revision + 1, found.revision)

        assert found.revision >= max([self.report.revision, *claims.acknowledged])
        assert [event.record.mod_revision for event in events] == list(
            range(self.report.revision + 1, found.revision + 1)
        )
        for event in events:
            self._apply(event, claims)
        assert {record.key: record.value for record in found.records} == {
            key: payload(key, number) for key, number in self._state.items()
        }
        self.report.revision = found.revision

    def _apply(self, event: Event, claims: Claims) -> None:
        """Apply an event of the history, which must be an acknowledged write or the last try of its key."""
        key, revision = event.record.key, event.record.mod_revision
        if revision in claims.acknowledged:
            acknowledged_key, number = claims.acknowledged[revision]
            assert key == acknowledged_key
        else:
            number = claims.tried.pop(key)
            self.report.in_doubt_and_written += 1
        assert event.record.value == (payload(key, number) if number else b"")
        self._state[key] = number
        if not number:
            del self._state[key]


async def _read_until(claims: Claims, lines: AsyncIterator[bytes], acknowledgements: int) -> None:
    async for line in lines:
        claims.note(line)
        if claims.has_reached(acknowledgements):
            return


async def _events(kv: KV, first: int, last: int) -> list[Event]:
    if first > last:
        return []
    async with kv.watch(PREFIX, prefix_end(PREFIX), revision=first) as batches:
        return await take_until(batches, last)


@contextmanager
def target_of(engine: str) -> Iterator[Target]:
    """A new, empty store."""
    if engine == "sqlite":
        with tempfile.TemporaryDirectory(prefix="kill-nine-") as directory:
            yield SqliteTarget(directory)
    else:
        with Member(fsync=True) as member:
            yield EtcdTarget(member)


async def run(engine: str, *, rounds: int, seed: int = 0) -> Report:
    """Run so many rounds on a new store. Raises AssertionError when an acknowledged write was lost."""
    with target_of(engine) as target:
        kill_nine = KillNine(target, seed=seed)
        for _ in range(rounds):
            await kill_nine.round()
        return kill_nine.report


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engine", choices=("sqlite", "etcd"), default="sqlite")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    report = asyncio.run(run(arguments.engine, rounds=arguments.rounds, seed=arguments.seed))
    sys.stdout.write(f"{arguments.engine}: {report.outcome()}\n")


if __name__ == "__main__":
    main()
