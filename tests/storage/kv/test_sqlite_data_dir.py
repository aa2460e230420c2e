"""The data directory of the embedded engine: its lock, its permissions, and which files are accepted in it."""

import asyncio
import contextlib
import os
import sqlite3
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aio_apiserver.storage.errors import Corrupt, DataDirLocked, StorageError, Unavailable
from aio_apiserver.storage.kv.sqlite import SqliteKV, schema
from aio_apiserver.storage.kv.sqlite.data_dir import DataDir
from aio_apiserver.storage.kv.sqlite.file_reader import FileReader
from aio_apiserver.storage.kv.sqlite.schema import SCHEMA_VERSION
from tests.storage.kv.sqlite_steps import DATABASE, mode_of, names_in, size_of
from tests.storage.kv.steps import create, keys_of, read

ROOT = Path(__file__).parents[3]
HOLD = """
import asyncio, pathlib, sys
from aio_apiserver.storage.kv.sqlite import SqliteKV

async def main():
    kv = await SqliteKV.open(pathlib.Path(sys.argv[1]))
    print("open", flush=True)
    sys.stdin.read()
    await kv.close()

asyncio.run(main())
"""


@pytest.fixture
async def holder(tmp_path: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Another process that holds the lock of the directory."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", HOLD, str(tmp_path)),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"open\n"
    yield process
    if process.returncode is None:
        process.kill()
    await process.communicate()


async def columns(database: Path) -> object:
    """The columns of the tables, and the version of the schema."""
    connection = sqlite3.connect(database)
    tables = ("records", "heads", "leases", "state")
    found = {table: connection.execute(f"PRAGMA table_info({table})").fetchall() for table in tables}
    version = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return found, version


async def open_and_close(directory: Path) -> None:
    await (await SqliteKV.open(directory)).close()


class TestLock:
    async def test_a_second_process_is_refused_with_the_name_of_the_first(
        self, tmp_path: Path, holder: asyncio.subprocess.Process
    ) -> None:
        with pytest.raises(DataDirLocked) as refusal:
            await SqliteKV.open(tmp_path)

        assert str(refusal.value) == f"data directory {tmp_path} is in use by process {holder.pid}"

    async def test_the_lock_dies_with_its_process(self, tmp_path: Path, holder: asyncio.subprocess.Process) -> None:
        holder.kill()
        await holder.wait()

        await open_and_close(tmp_path)

    async def test_a_second_engine_of_the_same_process_is_refused(self, tmp_path: Path) -> None:
        kv = await SqliteKV.open(tmp_path)

        with pytest.raises(DataDirLocked, match=str(os.getpid())):
            await SqliteKV.open(tmp_path)

        await create(kv, b"a")
        await kv.close()

    async def test_a_closed_engine_has_given_the_lock_back(self, tmp_path: Path) -> None:
        await open_and_close(tmp_path)

        await open_and_close(tmp_path)

    async def test_a_failed_start_gives_the_lock_back(self, tmp_path: Path) -> None:
        (tmp_path / DATABASE).write_bytes(b"no database" * 100)
        with pytest.raises(Corrupt):
            await SqliteKV.open(tmp_path)
        (tmp_path / DATABASE).unlink()

        await open_and_close(tmp_path)


class TestPermissions:
    async def test_what_is_made_is_for_the_owner_alone(self, tmp_path: Path) -> None:
        directory = tmp_path / "new" / "data"
        kv = await SqliteKV.open(directory)
        await create(kv, b"a")

        modes = {name: mode_of(directory / name) for name in names_in(directory)}

        assert mode_of(directory) == 0o700
        assert modes == dict.fromkeys(("lock", "store.db", "store.db-wal", "store.db-shm"), 0o600)
        await kv.close()

    @pytest.fixture
    def shared(self, tmp_path: Path) -> Path:
        """A directory that a group may read."""
        directory = tmp_path / "shared"
        directory.mkdir()
        directory.chmod(0o750)
        return directory

    async def test_a_directory_that_was_there_keeps_its_mode(self, shared: Path) -> None:
        await open_and_close(shared)

        assert mode_of(shared) == 0o750

    async def test_a_directory_that_cannot_be_made_is_a_clear_error(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()

        with pytest.raises(Unavailable, match=str(tmp_path / "file")):
            await SqliteKV.open(tmp_path / "file")


class TestDamage:
    @pytest.fixture
    async def database(self, tmp_path: Path) -> Path:
        """A store with some hundred records, closed."""
        kv = await SqliteKV.open(tmp_path)
        await asyncio.gather(*[create(kv, b"/a/%03d" % number, bytes(3000)) for number in range(300)])
        await kv.close()
        return tmp_path / DATABASE

    async def refusal(self, database: Path) -> StorageError:
        with pytest.raises(Corrupt) as refusal:
            await SqliteKV.open(database.parent)
        assert refusal.value.key == str(database)
        return refusal.value

    async def test_a_file_of_something_else_is_refused(self, tmp_path: Path) -> None:
        database = tmp_path / DATABASE
        database.write_bytes(b"something else\n" * 1000)

        assert "not a database" in str(await self.refusal(database))

    async def test_the_database_of_another_program_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        database = tmp_path / DATABASE
        connection = sqlite3.connect(database)
        connection.execute("CREATE TABLE theirs (a)")
        connection.close()
        before = database.read_bytes()

        assert "not a store of this program" in str(await self.refusal(database))
        assert database.read_bytes() == before

    async def test_the_schema_of_a_newer_release_is_refused(self, database: Path) -> None:
        connection = sqlite3.connect(database)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        connection.close()

        refusal = str(await self.refusal(database))
        assert f"schema version {SCHEMA_VERSION + 1}" in refusal
        assert "use the newer release" in refusal

    async def test_the_schema_of_an_older_release_is_upgraded_at_the_start(self, database: Path) -> None:
        """Version 1 has no identity of the store. A reader beside a server upgrades nothing."""
        fresh = await columns(database)
        connection = sqlite3.connect(database)
        connection.executescript("ALTER TABLE state DROP COLUMN store_id; PRAGMA user_version = 1")
        connection.close()
        reader = FileReader(database.parent)
        assert (await reader.range(b"/a/", b"/a0", limit=1)).count == 300
        assert await reader.store_id() == b""
        await reader.close()

        kv = await SqliteKV.open(database.parent)

        assert await columns(database) == fresh
        assert len((await kv.range(b"/a/", b"/a0")).records) == 300
        await create(kv, b"/b")
        await kv.close()

    def test_there_is_an_upgrade_from_every_older_schema(self) -> None:
        assert list(schema._UPGRADES) == list(range(1, SCHEMA_VERSION))

    async def test_a_truncated_file_is_refused(self, database: Path) -> None:
        os.truncate(database, size_of(database.parent) // 2)

        assert "malformed" in str(await self.refusal(database))

    async def test_a_damaged_page_fails_the_reads_that_need_it(self, database: Path) -> None:
        page = size_of(database.parent) // 2 // 8192
        with database.open("r+b") as file:
            file.seek(page * 8192)
            file.write(b"\xff" * 8192)
        kv = await SqliteKV.open(database.parent)

        with pytest.raises(Corrupt, match=str(database)):
            await kv.range(b"/a/", b"/a0")

        assert await read(kv, b"/a/000") is not None
        await create(kv, b"/b")
        assert await keys_of(kv, b"/b") == [b"/b"]
        await kv.close()

    async def test_an_empty_file_is_a_new_store(self, tmp_path: Path) -> None:
        (tmp_path / DATABASE).touch()

        kv = await SqliteKV.open(tmp_path)

        assert await kv.current_revision() == 1
        await kv.close()


@pytest.mark.parametrize("name", ["lock", "room", "store.db.loading"])
async def test_a_link_in_the_data_directory_leads_no_write_to_another_file(tmp_path: Path, name: str) -> None:
    target, data_dir = tmp_path / "target", DataDir(tmp_path / "data")
    target.write_bytes(b"precious")
    data_dir.path.mkdir()
    (data_dir.path / name).symlink_to(target)

    with contextlib.suppress(OSError):
        data_dir.acquire()
    data_dir.check_room()
    data_dir.new_database_file()
    data_dir.release()

    assert target.read_bytes() == b"precious"
