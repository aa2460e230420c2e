"""Backups that were made to harm: each is refused before a store is written, and with little memory and time."""

import gzip
import os
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest

from aio_apiserver.storage.errors import InvalidOptions
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.kv.sqlite import loading
from aio_apiserver.storage.transfer import applying, archive, archive_frames
from aio_apiserver.storage.transfer.archive_frames import (
    FORMAT,
    ArchivedLease,
    ArchivedRecord,
    ArchiveEnd,
    ArchiveFrame,
    ArchiveHead,
    BrokenArchive,
    KeptKey,
)
from tests.storage.transfer.copies import Copy, data_dir, fill, nothing, put
from tests.storage.transfer.test_applying import Stream

REVISION = 100
KEY = b"/registry/pods/default/a"


def head(
    *, revision: int = REVISION, base: int = 0, prefix: bytes = b"/registry/", version: int = FORMAT
) -> ArchiveHead:
    return ArchiveHead(version, prefix, revision, base, 0.0, b"store")


def record(
    key: bytes = KEY, *, created: int = 5, written: int = 5, version: int = 1, lease: int = 0, value: bytes = b"v"
) -> ArchivedRecord:
    return ArchivedRecord(key, value, created, written, version, lease)


def file_of(path: Path, *frames: ArchiveFrame, keys: int = -1) -> Path:
    """A file with these frames, and an end with the right checksum."""
    count = sum(isinstance(frame, ArchivedRecord | KeptKey) for frame in frames)
    with path.open("wb") as file, archive_frames.packed(file) as out:
        for frame in frames:
            out.write(frame)
        out.write(ArchiveEnd(count if keys < 0 else keys, out.checksum))
    return path


REFUSED: Sequence[tuple[str, Sequence[ArchiveFrame], str]] = [
    ("negative revision", [head(revision=-5)], "no store has its revisions, -5"),
    ("revision zero", [head(revision=0)], "no store has its revisions"),
    ("huge revision", [head(revision=1 << 62), record()], "no store has its revisions, 4611686018427387904"),
    ("negative base", [head(base=-1)], "no store has its revisions"),
    ("base behind itself", [head(base=REVISION + 1)], "no store has its revisions"),
    ("another format", [head(version=2)], "it has format 2"),
    ("empty prefix", [head(prefix=b"")], "its prefix is none"),
    ("root as prefix", [head(prefix=b"registry")], "its prefix is none"),
    ("a prefix for terminals", [head(prefix=b"/\x1b[2J/")], "its prefix is none"),
    ("no head", [record()], "it has no head, or two"),
    ("two heads", [head(), head(revision=5)], "it has no head, or two"),
    ("foreign key", [head(), record(b"/other/secret")], "the key /other/secret is none of an object"),
    ("the prefix as key", [head(), record(b"/registry/")], "is none of an object"),
    ("a key of running servers", [head(), record(b"/registry/masterleases/1.2.3.4")], "is none of an object"),
    ("a key of copies", [head(), record(b"/registry/_aio-apiserver.io/transfer/x")], "is none of an object"),
    ("a long key", [head(), record(b"/registry/" + b"x" * 5_000)], "is none of an object"),
    ("a key for terminals", [head(), record(b"\x1b]0;title\x07")], r"the key \\x1b\]0;title\\x07 is none"),
    ("keys out of order", [head(), record(KEY + b"b"), record(KEY)], "out of order"),
    ("a key twice", [head(), record(), record()], "out of order"),
    ("newer than the backup", [head(), record(written=REVISION + 1)], "revisions of .* are not those of the backup"),
    ("written before it was created", [head(), record(created=6)], "are not those of the backup"),
    ("created at zero", [head(), record(created=0)], "are not those of the backup"),
    ("older than the base", [head(base=50), record()], "are not those of the backup"),
    ("version zero", [head(), record(version=0)], "version of .* does not fit"),
    ("more versions than revisions", [head(), record(version=2)], "version of .* does not fit"),
    ("kept in a full backup", [head(), KeptKey(KEY, 5)], "is not one of the base"),
    ("kept from the future", [head(base=50), KeptKey(KEY, 51)], "is not one of the base"),
    ("a lease that is missing", [head(), record(lease=7)], "the lease of .* is missing"),
    ("a negative lease", [head(), ArchivedLease(-7, 1)], "a lease that no store grants"),
    ("an endless lease", [head(), ArchivedLease(7, 1 << 60)], "a lease that no store grants"),
]


@pytest.mark.parametrize(("frames", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_file_that_no_store_can_have_made_is_refused(
    tmp_path: Path, frames: Sequence[ArchiveFrame], message: str
) -> None:
    path = file_of(tmp_path / "backup", *frames)

    with pytest.raises(BrokenArchive, match=f"^{path}: .*{message}"):
        archive.opened(path)


def test_a_file_that_keeps_the_rules_is_opened(tmp_path: Path) -> None:
    updated = record(KEY + b"b", created=5, written=9, version=5)
    path = file_of(tmp_path / "backup", head(), ArchivedLease(7, 60), record(lease=7), updated)

    assert archive.opened(path).keys == 2


def test_what_stands_behind_the_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "backup"
    with path.open("wb") as file, archive_frames.packed(file) as out:
        out.write(head())
        out.write(ArchiveEnd(0, out.checksum))
        out.write(record())

    with pytest.raises(BrokenArchive, match="there is more behind its end"):
        archive.opened(path)


def test_a_length_takes_no_memory(tmp_path: Path) -> None:
    """4 MB of zeros, compressed, that claim to be one frame of 4 GB."""
    path = tmp_path / "backup"
    with gzip.open(path, "wb") as out:
        out.write(b"aio-apiserver backup\n" + b"\xff\xff\xff\xff")
        for _ in range(64):
            out.write(bytes(1 << 20))
    tracemalloc.start()

    with pytest.raises(BrokenArchive, match="a frame of 4294967295 bytes"):
        archive.opened(path)

    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 << 20


def test_millions_of_leases_are_not_kept(tmp_path: Path) -> None:
    path = file_of(tmp_path / "backup", head(), *(ArchivedLease(number, 60) for number in range(1, 100_002)))

    with pytest.raises(BrokenArchive, match="more than 100000 leases"):
        archive.opened(path)


def test_a_pipe_is_no_backup(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(BrokenArchive, match="it is no file"):
        archive.opened(tmp_path / "pipe")


def test_a_file_that_changes_behind_its_check_is_noticed(tmp_path: Path) -> None:
    path = file_of(tmp_path / "backup", head(), record())
    verified = archive.opened(path)
    file_of(path, head(), record(value=b"other"))

    with pytest.raises(BrokenArchive, match="it has changed while it was read"):
        list(verified.records())


def test_an_increment_that_does_not_fit_is_refused_before_the_first_record(tmp_path: Path) -> None:
    full = file_of(tmp_path / "full", head(), record())
    increment = file_of(tmp_path / "increment", head(revision=200, base=REVISION), KeptKey(KEY + b"b", 7))

    with pytest.raises(BrokenArchive, match="the base of the increment lacks the key"):
        archive.restorable(full, increment)


async def test_a_value_that_no_reader_would_take_is_not_written(tmp_path: Path) -> None:
    with (tmp_path / "backup").open("wb") as file, archive_frames.packed(file) as out:
        out.write(head())
        with pytest.raises(BrokenArchive, match="too large for a backup"):
            out.write(record(value=bytes(archive_frames.MAX_FRAME_BYTES)))


async def test_a_far_revision_is_not_reached_by_writes() -> None:
    store = MemoryKV()
    copy = Stream(Copy([], 1 << 39))

    with pytest.raises(InvalidOptions, match="revisions behind the copy"):
        await applying.apply(copy, store, replace=True, advance=nothing)

    assert await store.current_revision() == 1
    await store.close()


async def test_a_data_directory_passes_a_far_revision_in_one_step(tmp_path: Path) -> None:
    async with data_dir(tmp_path) as kv:
        await fill(kv, 3)

    for revision in (1 << 39, (1 << 39) - 5, 1 << 40):
        loading.raise_revision(tmp_path, revision)

    async with data_dir(tmp_path) as kv:
        assert await kv.current_revision() == 1 << 40
        assert (await put(kv, "next", b"")).mod_revision == (1 << 40) + 1
        await kv.compact((1 << 40) + 1)
        assert (await kv.range(b"/registry/", b"/registry0", count_only=True)).count == 4


def test_a_missing_store_is_made_at_the_revision(tmp_path: Path) -> None:
    loading.raise_revision(tmp_path / "new", 7)
    loading.raise_revision(tmp_path / "new", 5)

    assert (tmp_path / "new" / "store.db").exists()
