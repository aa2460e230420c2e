"""The engine over a Unix socket: the kv contract on the stores that a process can own, and the loss of the owner."""

import asyncio
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from aio_apiserver.storage.clock import ManualClock
from aio_apiserver.storage.errors import DeadlineExceeded, Unavailable
from aio_apiserver.storage.kv.interface import KV, GetResult
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.storage.kv.unix import KVService, UnixKV
from tests.storage.kv.contract import (
    Elapse,
    EmptyStoreContract,
    ExactCompactionContract,
    KVContract,
    SharedStoreContract,
)
from tests.storage.kv.steps import create, next_events, read, take, update


@pytest.fixture
def socket() -> Iterator[Path]:
    """The path of a socket; the path of a test's own folder may be too long for one."""
    with tempfile.TemporaryDirectory(prefix="kv-", dir="/tmp") as folder:  # noqa: S108 a new private folder
        yield Path(folder) / "kv.sock"


class TestUnixKV(EmptyStoreContract, ExactCompactionContract, SharedStoreContract, KVContract):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    async def kv(self, clock: ManualClock, socket: Path) -> AsyncIterator[KV]:
        owned = MemoryKV(clock=clock)
        service = await KVService.open(owned, socket)
        engine = UnixKV(socket)
        yield engine
        await engine.close()
        await service.close()
        await owned.close()

    @pytest.fixture
    async def other(self, kv: KV, socket: Path) -> AsyncIterator[KV]:
        engine = UnixKV(socket)
        yield engine
        await engine.close()

    @pytest.fixture
    def elapse(self, clock: ManualClock) -> Elapse:
        async def elapse(seconds: float) -> None:
            clock.advance(seconds)

        return elapse
