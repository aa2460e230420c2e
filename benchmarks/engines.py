"""Engines: the subjects of the engine benchmarks, which create and get keys on the same disk.

Must hold: every subject waits for the disk before it reports a write. All keep their data below the given directory.
"""

import io
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.kv.sqlite import SqliteKV
from benchmarks.raw_etcd import RawEtcd
from benchmarks.rounds import rate
from tests.storage.kv.etcd_server import Member

VALUE = bytes(range(250)) * 10
"""2.5 kB, the size of a usual object."""
CREATES = 20_000
GETS = 100_000
"""The most operations in a round."""

_LASTING = Path("/var/tmp")  # noqa: S108 - only the parent of directories that are made with names of their own
"""A directory for large temporary files: /tmp is in memory on many systems."""


class Subject:
    """Creates and gets keys below a prefix of its own."""

    def __init__(
        self, name: str, create: Callable[[bytes, bytes], Awaitable[object]], get: Callable[[bytes], Awaitable[object]]
    ) -> None:
        self.name = name
        self._create = create
        self._get = get
        self._created = 0

    async def creates(self, *, at_once: int) -> float:
        """One round of creates. Returns the rate per second."""
        numbers = itertools.islice(itertools.count(self._created), CREATES)
        return await rate(self._create_one, numbers, at_once=at_once)

    async def gets(self, *, at_once: int) -> float:
        """One round of gets of created keys. Returns the rate per second."""
        numbers = (number % self._created for number in range(GETS))
        return await rate(self._get_one, numbers, at_once=at_once)

    async def _create_one(self, number: int) -> None:
        self._created = number + 1
        await self._create(self._key(number), VALUE)

    async def _get_one(self, number: int) -> None:
        await self._get(self._key(number))

    def _key(self, number: int) -> bytes:
        return f"/registry/configmaps/{self.name}/{number:08}".encode()


@contextmanager
def directory() -> Iterator[Path]:
    """A temporary directory on a disk."""
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=_LASTING if _LASTING.is_dir() else None) as path:
        yield Path(path)


@asynccontextmanager
async def sqlite(parent: Path) -> AsyncIterator[Subject]:
    """The SQLite engine."""
    kv = await SqliteKV.open(parent / "sqlite")
    try:
        yield _on("sqlite", kv)
    finally:
        await kv.close()


@asynccontextmanager
async def etcd(member: Member) -> AsyncIterator[Subject]:
    """The etcd engine."""
    kv = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
    try:
        yield _on("engine", kv)
    finally:
        await kv.close()


@asynccontextmanager
async def raw_etcd(member: Member) -> AsyncIterator[Subject]:
    """The same etcd without the engine."""
    raw = RawEtcd(f"127.0.0.1:{member.client_port}")
    try:
        yield Subject("raw etcd", raw.create, raw.get)
    finally:
        await raw.close()


def seconds_of_sync(parent: Path, *, writes: int = 100) -> float:
    """The median time of an fsync."""
    with (parent / "sync").open("wb", buffering=0) as file:
        return statistics.median([_seconds_of_write(file) for _ in range(writes)])


@contextmanager
def member(parent: Path) -> Iterator[Member]:
    """A running etcd with its own defaults."""
    with Member(timing=(), fsync=True, parent=parent) as running:
        yield running


def _on(name: str, kv: KV) -> Subject:
    async def create(key: bytes, value: bytes) -> None:
        result = await kv.put(key, value, expected_mod_revision=0)
        assert result.succeeded

    async def get(key: bytes) -> None:
        result = await kv.get(key)
        assert result.record is not None

    return Subject(name, create, get)


def _seconds_of_write(file: io.FileIO) -> float:
    begun = time.perf_counter()
    file.write(VALUE)
    os.fsync(file.fileno())
    return time.perf_counter() - begun
