"""The writer of the embedded engine: groups, cancelled callers, and threads beside a busy event loop."""

import asyncio
import sqlite3
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aio_apiserver.storage.errors import Closed
from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.storage.kv.sqlite.schema import Connection
from aio_apiserver.storage.kv.sqlite.workers import Patience, Workers
from tests.storage.kv.sqlite_steps import on_writer, settle
from tests.storage.kv.steps import create, keys_of, read, update, written

ROOT = Path(__file__).parents[3]
NO_PATIENCE = Patience(first=0.0, later=0.0, pause=0.01)


@pytest.fixture
async def kv(tmp_path: Path) -> AsyncIterator[SqliteKV]:
    engine = await SqliteKV.open(tmp_path)
    yield engine
    await engine.close()


class TestGroups:
    async def test_what_is_asked_for_at_once_shares_a_commit(self, kv: SqliteKV) -> None:
        await settle(kv)  # between two chores of the compaction, a group begins with the writes that are there
        before = kv.statistics()["groups"]

        await asyncio.gather(*[create(kv, b"/%d" % number) for number in range(500)])

        assert kv.statistics()["groups"] - before == 2
        assert await kv.current_revision() == 501

    async def test_writes_of_one_key_in_one_group_see_each_other(self, kv: SqliteKV) -> None:
        created, again, updated, deleted, last = await asyncio.gather(
            kv.put(b"/a", b"one", expected_mod_revision=0),
            kv.put(b"/a", b"two", expected_mod_revision=0),
            kv.put(b"/a", b"three", expected_mod_revision=2),
            kv.delete(b"/a", expected_mod_revision=3),
            kv.put(b"/a", b"four", expected_mod_revision=0),
        )

        assert [result.succeeded for result in (created, again, updated, deleted, last)] == [True, False, *[True] * 3]
        first = written(b"/a", b"one", created)
        assert again.record == first
        assert [await read(kv, b"/a", revision=revision) for revision in (2, 3, 4, 5)] == [
            first,
            written(b"/a", b"three", updated, before=first),
            None,
            written(b"/a", b"four", last),
        ]

    async def test_nonsense_fails_for_itself(self, kv: SqliteKV) -> None:
        nonsense, sense = await asyncio.gather(
            kv.put(b"/a", b"one", expected_mod_revision=0, lease=2**70),
            kv.put(b"/b", b"one", expected_mod_revision=0),
            return_exceptions=True,
        )

        assert isinstance(nonsense, OverflowError)
        assert not isinstance(sense, BaseException)
        assert await keys_of(kv, b"/") == [b"/b"]

    async def test_a_write_whose_caller_has_gone_does_not_disturb_the_others(self, kv: SqliteKV) -> None:
        leaving = asyncio.create_task(create(kv, b"/a"))
        staying = asyncio.create_task(create(kv, b"/b"))
        await asyncio.sleep(0)
        leaving.cancel()

        record = await staying

        assert await read(kv, b"/b") == record
        assert await update(kv, record)
        assert leaving.cancelled()

    async def test_closing_commits_what_was_asked_for(self, kv: SqliteKV, tmp_path: Path) -> None:
        writes = [asyncio.create_task(create(kv, b"/%03d" % number, bytes(400_000))) for number in range(100)]
        await asyncio.sleep(0)

        await kv.close()

        records = await asyncio.gather(*writes)
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("sqlite-")]
        again = await SqliteKV.open(tmp_path)
        assert list((await again.range(b"/", b"0")).records) == records
        await again.close()

    async def test_reads_that_were_asked_for_are_answered_by_closing(self, kv: SqliteKV) -> None:
        record = await create(kv, b"/a")
        reads = [asyncio.create_task(read(kv, b"/a")) for _ in range(10)]
        listing = asyncio.create_task(keys_of(kv, b"/"))
        await asyncio.sleep(0)

        await kv.close()

        assert await asyncio.gather(*reads) == [record] * 10
        assert await listing == [b"/a"]

    async def test_two_concurrent_closes_both_wait_for_the_end(self, kv: SqliteKV, tmp_path: Path) -> None:
        await asyncio.gather(kv.close(), kv.close())

        await (await SqliteKV.open(tmp_path)).close()
        with pytest.raises(Closed):
            await create(kv, b"/a")


class TestBusyLoop:
    async def test_a_saturated_event_loop_does_not_starve_its_threads(self, kv: SqliteKV) -> None:
        loop = asyncio.get_running_loop()
        turns = 0
        is_over = False

        def spin() -> None:
            nonlocal turns
            turns += 1
            end = time.perf_counter() + 0.0002
            while time.perf_counter() < end:
                pass
            if not is_over:
                loop.call_soon(spin)

        loop.call_soon(spin)
        records = [await create(kv, b"/%02d" % number) for number in range(10)]
        for record in records:
            assert await read(kv, record.key) == record
        assert await keys_of(kv, b"/") == [record.key for record in records]
        is_over = True

        assert turns < 5_000


class TestWorkers:
    def connect(self) -> Connection:
        return sqlite3.connect(":memory:")

    def fail(self) -> Connection:
        raise OSError("no connection")

    def count_threads(self) -> int:
        """The threads of the workers "counted". Those of other tests may end meanwhile."""
        return sum(thread.name.startswith("counted-") for thread in threading.enumerate())

    async def test_threads_are_started_as_they_are_needed(self) -> None:
        workers = Workers("counted", self.connect, patience=NO_PATIENCE, threads=2)
        gate = threading.Barrier(2)

        await workers.run(lambda _: None)
        after_one = self.count_threads()
        await asyncio.gather(*[workers.run(lambda _: gate.wait(timeout=20)) for _ in range(2)])

        assert (after_one, self.count_threads()) == (1, 2)
        await workers.stop()
        assert self.count_threads() == 0

    async def test_what_a_job_raises_reaches_its_caller_and_the_thread_goes_on(self) -> None:
        workers = Workers("test", self.connect, patience=NO_PATIENCE)

        with pytest.raises(ZeroDivisionError):
            await workers.run(lambda _: 1 // 0)

        assert await workers.run(lambda connection: connection.execute("SELECT 7").fetchone()) == (7,)
        await workers.stop()

    async def test_who_cannot_connect_says_so_to_each_job(self) -> None:
        workers = Workers("test", self.fail, patience=NO_PATIENCE)

        for _ in range(2):
            with pytest.raises(OSError, match="no connection"):
                await workers.run(lambda _: None)
        await workers.stop()

    async def test_stopping_twice_is_safe(self) -> None:
        workers = Workers("test", self.connect, patience=NO_PATIENCE)
        await workers.run(lambda _: None)

        await workers.stop()
        await workers.stop()


class TestDiskFailure:
    PROGRAM = """
import asyncio, pathlib, resource, signal, sys
from aio_apiserver.storage.errors import DeadlineExceeded, Unavailable
from aio_apiserver.storage.kv.sqlite import SqliteKV

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

async def attempt(kv, name):
    try:
        await kv.put(name, bytes(500_000), expected_mod_revision=0)
    except Unavailable as exc:
        return type(exc).__name__
    return "written"

async def main():
    kv = await SqliteKV.open(pathlib.Path(sys.argv[1]))
    said = [await attempt(kv, b"/a")]
    limit(600_000)
    said.append(await attempt(kv, b"/b"))
    said.append((await kv.health()).healthy)
    said.append(len((await kv.get(b"/a")).record.value))
    limit(resource.RLIM_INFINITY)
    said.append(await attempt(kv, b"/c"))
    said.append((await kv.health()).healthy)
    said.append([record.key for record in (await kv.range(b"/", b"0")).records])
    said.append(await kv.current_revision())
    await kv.close()
    print(said)

asyncio.run(main())
"""

    async def test_a_failed_commit_is_in_doubt_and_the_next_one_works(self, tmp_path: Path) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *("-c", self.PROGRAM, str(tmp_path)), cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )

        said, _ = await process.communicate()

        expected = ["written", "DeadlineExceeded", True, 500_000, "written", True, [b"/a", b"/c"], 3]
        assert said.decode().strip() == str(expected)


async def test_a_commit_is_synced(kv: SqliteKV) -> None:
    def read_settings(connection: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "fullfsync", "auto_vacuum", "secure_delete")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    settings = await on_writer(kv, read_settings)

    full, incremental, fast = 2, 2, 2
    assert settings == ["wal", full, 1, incremental, fast]
