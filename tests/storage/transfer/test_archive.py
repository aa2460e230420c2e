"""Archives: whole, verified, at one revision, and incremental."""

import os
from pathlib import Path

import pytest
from msgspec import structs

from aio_apiserver.storage.kv.sqlite.file_reader import FileReader
from aio_apiserver.storage.transfer import archive
from aio_apiserver.storage.transfer.archive import Restorable
from aio_apiserver.storage.transfer.archive_frames import BrokenArchive
from aio_apiserver.storage.transfer.contents import contents_of
from tests.storage.kv.sqlite_steps import names_in
from tests.storage.transfer.copies import PREFIX, Copy, data_dir, delete, fill, in_directory, key, nothing, put


async def backup(directory: Path, file: Path, base: int = 0) -> None:
    reader = FileReader(directory)
    try:
        await archive.write(await contents_of(reader, PREFIX), file, base=base, now=0.0, advance=nothing)
    finally:
        await reader.close()


async def content(restorable: Restorable) -> Copy:
    return Copy([record async for record in restorable.records()], restorable.revision)


async def test_a_backup_beside_a_running_server_has_every_record_with_its_revisions(tmp_path: Path) -> None:
    async with data_dir(tmp_path / "data") as kv:
        await fill(kv, 30)
        await put(kv, "00007", b"changed")
        await delete(kv, "00003")

        await backup(tmp_path / "data", tmp_path / "backup")

    found = await content(archive.restorable(tmp_path / "backup"))
    assert found == await in_directory(tmp_path / "data")
    assert key("00003") not in found.values
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o600


async def test_a_backup_is_of_one_revision_though_the_server_writes_between_its_pages(tmp_path: Path) -> None:
    async with data_dir(tmp_path / "data") as kv:
        await fill(kv, 2_100)
        reader = FileReader(tmp_path / "data")
        records = (contents := await contents_of(reader, PREFIX)).records()
        found = [await anext(records)]

        await put(kv, "02099", b"later")
        await put(kv, "99999", b"later")
        await delete(kv, "01500")
        found += [record async for record in records]
        await reader.close()

    assert len(found) == contents.count == 2_100
    assert b"later" not in [record.value for record in found]


async def test_increments_complete_their_base(tmp_path: Path) -> None:
    full, first, second = (tmp_path / name for name in ("full", "first", "second"))
    async with data_dir(tmp_path / "data") as kv:
        await fill(kv, 20)
        await backup(tmp_path / "data", full)
        await put(kv, "00001", b"changed")
        await delete(kv, "00002")
        await backup(tmp_path / "data", first, base=archive.opened(full).head.revision)
        await put(kv, "new", b"new")
        await backup(tmp_path / "data", second, base=archive.opened(first).head.revision)

    assert await content(archive.restorable(full, first, second)) == await in_directory(tmp_path / "data")
    with pytest.raises(BrokenArchive, match="is not a full backup"):
        archive.restorable(first, second)
    with pytest.raises(BrokenArchive, match="is not the increment"):
        archive.restorable(full, second)


async def test_a_damaged_or_shortened_file_is_refused_before_anything_is_read_from_it(tmp_path: Path) -> None:
    async with data_dir(tmp_path / "data") as kv:
        await fill(kv, 200)
    await backup(tmp_path / "data", tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()

    for damaged in (whole[:-20], whole[:200], whole[:500] + b"\xff" + whole[501:], b"", b"SQLite format 3"):
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(BrokenArchive):
            archive.opened(tmp_path / "damaged")


async def test_a_backup_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    async with data_dir(tmp_path / "data") as kv:
        await fill(kv, 3)
        await backup(tmp_path / "data", tmp_path / "backup")
        before = (tmp_path / "backup").read_bytes()
        reader = FileReader(tmp_path / "data")
        contents = await contents_of(reader, PREFIX)
        await put(kv, "more", b"")
        await put(kv, "more", b"again")
        await kv.compact(await kv.current_revision())

        with pytest.raises(Exception, match="compacted"):
            await archive.write(contents, tmp_path / "backup", base=0, now=0.0, advance=nothing)
        await reader.close()

    assert (tmp_path / "backup").read_bytes() == before
    assert names_in(tmp_path) == {"backup", "data"}


async def test_an_increment_belongs_to_the_store_of_its_base(tmp_path: Path) -> None:
    """A restored store goes on with revisions of its own, so that an increment of it fits to no earlier backup."""
    for name in ("one", "other"):
        async with data_dir(tmp_path / name) as kv:
            await fill(kv, 3)
        await backup(tmp_path / name, tmp_path / f"{name}.full")
    base = archive.opened(tmp_path / "one.full")
    reader = FileReader(tmp_path / "other")
    contents = await contents_of(reader, PREFIX)
    await reader.close()

    assert not base.is_earlier(contents)
    assert archive.opened(tmp_path / "other.full").is_earlier(contents)
    await backup(tmp_path / "other", tmp_path / "other.increment", base=base.head.revision)
    with pytest.raises(BrokenArchive, match="backup of another store"):
        archive.restorable(tmp_path / "one.full", tmp_path / "other.increment")


async def test_increments_continue_a_backup_of_an_earlier_release(tmp_path: Path) -> None:
    """Its store had no identity, and has one since the upgrade. The increments are compared with each other."""
    full, first = tmp_path / "full", tmp_path / "first"
    async with data_dir(tmp_path / "data") as kv:
        await fill(kv, 3)
        reader = FileReader(tmp_path / "data")
        contents = await contents_of(reader, PREFIX)
        await archive.write(structs.replace(contents, store_id=b""), full, base=0, now=0.0, advance=nothing)
        await put(kv, "new", b"new")
        assert archive.opened(full).is_earlier(await contents_of(reader, PREFIX))
        await reader.close()
        await backup(tmp_path / "data", first, base=contents.revision)
    async with data_dir(tmp_path / "other") as kv:
        await fill(kv, 9)
    await backup(tmp_path / "other", tmp_path / "other.increment", base=archive.opened(first).head.revision)

    assert await content(archive.restorable(full, first)) == await in_directory(tmp_path / "data")
    with pytest.raises(BrokenArchive, match="backup of another store"):
        archive.restorable(full, first, tmp_path / "other.increment")


async def test_another_user_who_may_write_in_the_folder_gets_no_backup_and_redirects_none(tmp_path: Path) -> None:
    """He has put files in place under all names that he can know, open to him or as links to a file of the victim."""
    folder, target = tmp_path / "shared", tmp_path / "target"
    folder.mkdir()
    target.write_bytes(b"precious")
    (folder / "backup.partial").symlink_to(target)
    (folder / "backup").touch()
    (folder / "backup").chmod(0o666)
    planted = (folder / "backup").stat().st_ino
    async with data_dir(tmp_path / "data") as kv:
        await fill(kv, 3)

    await backup(tmp_path / "data", folder / "backup")

    present = (folder / "backup").lstat()
    assert target.read_bytes() == b"precious"
    assert (present.st_mode & 0o777, present.st_uid) == (0o600, os.geteuid())
    assert present.st_ino != planted
    assert archive.opened(folder / "backup").keys == 3
