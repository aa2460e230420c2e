"""Every engine against the model: the same random programs in each run, fewer where a step costs more."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.kv.sqlite import SqliteKV
from tests.storage.kv.etcd_server import Member
from tests.storage.kv.machine import Store, run_programs

T = TypeVar("T")

pytestmark = pytest.mark.timeout(400)  # a failing program is made smaller for up to five minutes before it is shown


def in_loop(runner: asyncio.Runner, make: Callable[[], T]) -> T:
    """Create an object that needs a running loop."""

    async def made() -> T:
        return make()

    return runner.run(made())


@contextmanager
def opened(kv: KV, runner: asyncio.Runner) -> Iterator[KV]:
    """The engine, which is closed at the end."""
    try:
        yield kv
    finally:
        runner.run(kv.close())


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def member(etcd_binary: Path) -> Iterator[Member]:
    with Member(binary=etcd_binary) as member:
        yield member


def test_memory_answers_as_the_model_does(runner: asyncio.Runner) -> None:
    clock = ManualClock()
    with opened(MemoryKV(clock=clock), runner) as kv:
        run_programs(Store(kv, runner, clock), programs=150, steps=50)


def test_sqlite_answers_as_the_model_does(runner: asyncio.Runner, tmp_path: Path) -> None:
    clock = ManualClock()
    with opened(runner.run(SqliteKV.open(tmp_path, clock=clock)), runner) as kv:
        run_programs(Store(kv, runner, clock), programs=60, steps=50)


def test_etcd_answers_as_the_model_does(runner: asyncio.Runner, member: Member) -> None:
    with opened(in_loop(runner, lambda: EtcdKV(EtcdConfig(endpoints=[member.endpoint]))), runner) as kv:
        run_programs(Store(kv, runner, keeps_deletion_at_compaction=False), programs=10, steps=40)
