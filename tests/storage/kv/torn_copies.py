"""Torn copies: the files of a store are copied while a process writes, and the end of the write-ahead log is torn.

The writer is stopped with SIGSTOP at a random moment, so that a copy is what a snapshot of the file system or a power
failure leaves. In every second round the log is cut or overwritten behind what was acknowledged at an earlier stop.
Must hold: the copy opens, has every write that was acknowledged then, and no other history than the writer's.
"""

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from aio_apiserver.storage.kv.interface import prefix_end
from aio_apiserver.storage.kv.sqlite import SqliteKV
from tests.paths import ROOT
from tests.reliability.outcomes import Outcome
from tests.storage.kv.kill_nine_writer import PREFIX, payload
from tests.storage.kv.steps import take_until

_LOG = "store.db-wal"
_SALTS = slice(16, 24)
"""The bytes in the header of a log that change when the log is started over."""
_MOST = 200
"""A copy is taken after this many acknowledgements at most."""
_SECTOR = 512
_SECONDS = 30.0

Acknowledged = Mapping[int, tuple[bytes, int]]
"""By revision: key and number of the value."""


class Writer:
    """A process that writes to a new store in a folder, and reports to a file."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.store = folder / "store"
        self._report = folder / "report"
        with self._report.open("wb") as report:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.storage.kv.kill_nine_writer", "sqlite", str(self.store), str(seed)],
                cwd=ROOT,
                stdout=report,
            )

    @property
    def acknowledged(self) -> Acknowledged:
        """What the writer has reported up to now."""
        tried: dict[bytes, int] = {}
        found: dict[int, tuple[bytes, int]] = {}
        for line in self._report.read_bytes().splitlines(keepends=True):
            match line.split():
                case [b"try", key, number]:
                    tried[key] = int(number)
                case [b"ack", key, revision] if line.endswith(b"\n"):
                    found[int(revision)] = key, tried[key]
        return found

    async def stop_after(self, count: int) -> Acknowledged:
        """Let it go on until it has so many acknowledgements, and stop it."""
        self._process.send_signal(signal.SIGCONT)
        deadline = time.monotonic() + _SECONDS
        while len(self.acknowledged) < count:
            assert self._process.poll() is None, "the writer has ended"
            assert time.monotonic() < deadline, "the writer does not write"
            await asyncio.sleep(0.001)
        return self._stopped()

    def _stopped(self) -> Acknowledged:
        self._process.send_signal(signal.SIGSTOP)
        os.waitpid(self._process.pid, os.WUNTRACED)
        return self.acknowledged

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


async def run(*, rounds: int, seed: int) -> Outcome:
    """So many copies, every second one torn. Raises AssertionError when a copy lacks something."""
    chance = random.Random(seed)
    torn = writes = 0
    for number in range(rounds):
        with tempfile.TemporaryDirectory(prefix="torn-") as folder:
            was_torn, checked = await _round(Path(folder), chance, tears=number % 2 == 1)
            torn, writes = torn + was_torn, writes + checked
    counts = {"copies": rounds, "of these with a torn log": torn, "acknowledged writes": writes}
    return Outcome({**counts, "lost writes": 0, "copies that do not open": 0})


async def _round(folder: Path, chance: random.Random, *, tears: bool) -> tuple[bool, int]:
    """One copy. Returns whether its log was torn, and the number of writes that had to be in it."""
    writer, copy = Writer(folder, chance.randrange(2**32)), folder / "copy"
    was_torn = False
    try:
        wanted = await writer.stop_after(chance.randrange(1, _MOST))
        if tears:
            before = _log_of(writer.store)
            await writer.stop_after(len(wanted) + chance.randrange(1, 20))
        shutil.copytree(writer.store, copy)
        if tears:
            was_torn = _tear(copy / _LOG, before, chance)
        everything = await writer.stop_after(len(wanted))
    finally:
        writer.kill()
    await _check(copy, wanted, {**everything, **writer.acknowledged})
    return was_torn, len(wanted)


def _log_of(store: Path) -> bytes:
    return (store / _LOG).read_bytes()


def _tear(log: Path, before: bytes, chance: random.Random) -> bool:
    """Cut the log, or overwrite a sector, behind what it had before. Returns False when it was started over since."""
    now = log.read_bytes()
    if now[_SALTS] != before[_SALTS] or len(now) <= len(before):
        return False
    place = chance.randrange(len(before), len(now))
    if chance.random() < 0.5:
        os.truncate(log, place)
    else:
        with log.open("r+b") as file:
            file.seek(place)
            file.write(chance.randbytes(min(_SECTOR, len(now) - place)))
    return True


async def _check(copy: Path, wanted: Acknowledged, everything: Acknowledged) -> None:
    """Compare the copy with what had to be in it, and its history with what the writer has reported in the end."""
    kv = await SqliteKV.open(copy)
    try:
        found = await kv.range(PREFIX, prefix_end(PREFIX))
        assert found.revision >= max(wanted), f"revision {found.revision}, {max(wanted)} was acknowledged"
        state: dict[bytes, bytes] = {}
        async with kv.watch(PREFIX, prefix_end(PREFIX), revision=2) as batches:
            events = await take_until(batches, found.revision)
        assert [event.record.mod_revision for event in events] == list(range(2, found.revision + 1))
        for event in events:
            key, number = everything.get(event.record.mod_revision, (event.record.key, -1))
            assert (event.record.key, event.record.value) == (key, _value(key, number, event.record.value))
            state[key] = event.record.value
        assert {record.key: record.value for record in found.records} == {
            key: value for key, value in state.items() if value
        }
    finally:
        await kv.close()


def _value(key: bytes, number: int, found: bytes) -> bytes:
    """The value of a write. One that was never acknowledged has any number, which its text tells."""
    if number < 0 and found:
        number = int(found.split(b"\n", 1)[0].rsplit(b" ", 1)[1])
    return payload(key, number) if number > 0 else b""
