"""The engine over a Unix socket: the kv contract on the stores that a process can own, and the loss of the owner."""

import asyncio
import contextlib
import os
import stat
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage import errors
from aio_apiserver.storage.errors import Compacted, DeadlineExceeded, StorageError, Unavailable
from aio_apiserver.storage.kv.interface import KV, WriteResult, prefix_end
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.storage.kv.unix import KVService, UnixKV, messages, refusals
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
    """The path of a socket. The path of a test's own folder may be too long for one."""
    with tempfile.TemporaryDirectory(prefix="kv-", dir="/tmp") as folder:
        yield Path(folder) / "kv.sock"


class TestUnixKV(EmptyStoreContract, ExactCompactionContract, SharedStoreContract, KVContract):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    async def kv(self, clock: ManualClock, socket: Path) -> AsyncIterator[KV]:
        async with owned_memory(socket, clock), connected(socket) as engine:
            yield engine

    @pytest.fixture
    async def other(self, kv: KV, socket: Path) -> AsyncIterator[KV]:
        async with connected(socket) as engine:
            yield engine

    @pytest.fixture
    def elapse(self, clock: ManualClock) -> Elapse:
        async def elapse(seconds: float) -> None:
            clock.advance(seconds)

        return elapse


@contextlib.asynccontextmanager
async def owned_memory(socket: Path, clock: ManualClock | None = None) -> AsyncIterator[MemoryKV]:
    """A store in memory, served at a socket."""
    owned = MemoryKV(clock=clock)
    service = await KVService.open(owned, socket)
    try:
        yield owned
    finally:
        await service.close()
        await owned.close()


@contextlib.asynccontextmanager
async def owned_sqlite(directory: Path, socket: Path) -> AsyncIterator[SqliteKV]:
    """A store in a directory, served at a socket until a crash: workers are not waited for."""
    owned = await SqliteKV.open(directory)
    service = await KVService.open(owned, socket)
    try:
        yield owned
    finally:
        await service.close(grace=0)
        await owned.close()


@contextlib.asynccontextmanager
async def connected(socket: Path, *, patience: float = 20.0) -> AsyncIterator[UnixKV]:
    engine = UnixKV(socket, patience=patience)
    try:
        yield engine
    finally:
        await engine.close()


async def test_the_socket_and_the_revision_are_their_owners_alone(socket: Path) -> None:
    async with owned_memory(socket):
        modes = {path.name: _mode(path) for path in (socket, socket.with_suffix(".revision"))}

    assert modes == {"kv.sock": stat.S_IFSOCK | 0o600, "kv.revision": stat.S_IFREG | 0o600}
    assert not os.path.lexists(socket)  # noqa: ASYNC240


def _mode(path: Path) -> int:
    return path.stat().st_mode


async def test_the_revision_is_known_while_no_owner_answers(socket: Path, tmp_path: Path) -> None:
    async with connected(socket) as kv:
        async with owned_sqlite(tmp_path, socket):
            record = await create(kv, b"/a")

        assert await kv.current_revision() == record.mod_revision


async def test_a_watch_goes_on_with_the_next_owner_without_a_gap(socket: Path, tmp_path: Path) -> None:
    async with connected(socket) as kv, contextlib.AsyncExitStack() as first:
        await first.enter_async_context(owned_sqlite(tmp_path, socket))
        one = await create(kv, b"/a")
        async with kv.watch(b"/", b"0", revision=one.mod_revision) as batches:
            await next_events(batches)

            await first.aclose()
            owned = await SqliteKV.open(tmp_path)
            two = await update(owned, one)
            await owned.close()
            async with owned_sqlite(tmp_path, socket):
                three = await update(kv, two)

                assert [event.record for event in await take(batches, 2)] == [two, three]
                assert await kv.current_revision() == three.mod_revision
            await kv.close()


async def test_a_watch_from_the_future_skips_what_came_between_two_owners(socket: Path, tmp_path: Path) -> None:
    async with connected(socket) as kv, contextlib.AsyncExitStack() as first:
        await first.enter_async_context(owned_sqlite(tmp_path, socket))
        async with kv.watch(b"/", b"0", revision=4) as batches:
            await first.aclose()
            owned = await SqliteKV.open(tmp_path)
            await create(owned, b"/a")
            await create(owned, b"/b")
            await owned.close()
            async with owned_sqlite(tmp_path, socket):
                third = await create(kv, b"/c")

                assert [event.record for event in await take(batches, 1)] == [third]
            await kv.close()


async def test_a_watch_learns_that_history_was_compacted_between_two_owners(socket: Path, tmp_path: Path) -> None:
    async with connected(socket) as kv, contextlib.AsyncExitStack() as first:
        await first.enter_async_context(owned_sqlite(tmp_path, socket))
        one = await create(kv, b"/a")
        async with kv.watch(b"/", b"0", revision=one.mod_revision + 1) as batches:
            await first.aclose()
            owned = await SqliteKV.open(tmp_path)
            last = await update(owned, await update(owned, one))
            await owned.compact(last.mod_revision)
            await owned.close()
            async with owned_sqlite(tmp_path, socket):
                with pytest.raises(Compacted):
                    await next_events(batches)
            await kv.close()


async def test_a_read_waits_for_the_next_owner(socket: Path, tmp_path: Path) -> None:
    async with connected(socket) as kv:
        async with owned_sqlite(tmp_path, socket):
            record = await create(kv, b"/a")
        reading = asyncio.create_task(read(kv, b"/a"))
        await asyncio.sleep(0)
        async with owned_sqlite(tmp_path, socket):
            assert await reading == record


async def test_without_an_owner_requests_are_unavailable(socket: Path) -> None:
    async with connected(socket, patience=0.01) as kv:
        health = await kv.health()
        with pytest.raises(Unavailable):
            await kv.put(b"/a", b"value", expected_mod_revision=0)
        with pytest.raises(Unavailable):
            async with kv.watch(b"/", b"0", revision=1):
                pass

    assert (health.healthy, health.reason) == (False, "the process that owns the store does not answer")


class _Stuck(MemoryKV):
    """A store whose writes do not return."""

    async def put(self, key: bytes, value: bytes, *, expected_mod_revision: int, lease: int = 0) -> WriteResult:
        self.is_asked.set()
        stuck: asyncio.Future[WriteResult] = asyncio.get_running_loop().create_future()
        return await stuck

    is_asked: asyncio.Event


async def test_a_write_that_the_owner_did_not_answer_has_an_unknown_outcome(socket: Path) -> None:
    owned = _Stuck()
    owned.is_asked = asyncio.Event()
    service = await KVService.open(owned, socket)
    async with connected(socket) as kv:
        writing = asyncio.create_task(kv.put(b"/a", b"value", expected_mod_revision=0))
        await owned.is_asked.wait()

        await service.close(grace=0)

        with pytest.raises(DeadlineExceeded):
            await writing
    await owned.close()


async def test_a_worker_that_does_not_read_is_held_back(socket: Path) -> None:
    async with owned_memory(socket) as owned:
        _, writer = await asyncio.open_unix_connection(socket)
        async with connected(socket) as kv:
            last = await create(kv, b"/a")
            for _ in range(15):
                last = await update(owned, last, bytes(400_000))

            assert owned.statistics()["queued_batches"] <= 5
            assert await read(kv, b"/a") == last
            assert await kv.current_revision() == last.mod_revision
        writer.close()
        await writer.wait_closed()


async def test_large_values_pass_whole(socket: Path) -> None:
    async with owned_memory(socket), connected(socket) as kv:
        values = [bytes([number]) * 1_400_000 for number in range(4)]
        for number, value in enumerate(values):
            await create(kv, b"/%d" % number, value)

        found = await kv.range(b"/", prefix_end(b"/"))

    assert [record.value for record in found.records] == values


async def test_a_worker_can_call_nothing_but_the_contract(socket: Path) -> None:
    async with owned_memory(socket), connected(socket) as kv:
        with pytest.raises(errors.InvalidOptions):
            await kv._owner.call("close")
        assert (await kv.health()).healthy


@pytest.mark.parametrize(
    "error",
    [
        errors.Compacted(3, 5),
        errors.FutureRevision(9, 5),
        errors.Corrupt("/a", "cut"),
        errors.TooLarge("too large"),
        errors.NoSpace("full"),
        errors.LeaseNotFound("lease 1"),
        errors.DeadlineExceeded("late"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_is_the_same_in_the_worker(error: StorageError) -> None:
    failed = messages.decode_from_owner(messages.encode(refusals.of(7, error)))

    assert isinstance(failed, messages.CallRefused)
    raised = refusals.raised_by(failed)
    assert (type(raised), str(raised), raised.__dict__) == (type(error), str(error), error.__dict__)


def test_an_owner_that_closes_is_unavailable_to_workers() -> None:
    raised = refusals.raised_by(refusals.of(7, errors.Closed("closing")))

    assert type(raised) is Unavailable
