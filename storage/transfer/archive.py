"""Archive: the file of a backup: a head, records, leases, and an end with a checksum, compressed with gzip.

An incremental archive names the revision of its base. It holds the records that are newer, and of all others their key
and revision.

Must hold: an archive gets its name when it is verified and on the disk. A reader has verified the checksum and all
frames before it returns the first record. The file is readable by its owner alone, because it holds Secrets.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from aio_apiserver.base import private_files
from aio_apiserver.storage.factory.unfinished_copy import PLACE, UnfinishedCopy
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.transfer import archive_frames
from aio_apiserver.storage.transfer.archive_frames import (
    FORMAT,
    ArchivedLease,
    ArchivedRecord,
    ArchiveEnd,
    ArchiveHead,
    BrokenArchive,
    FrameWriter,
    KeptKey,
)
from aio_apiserver.storage.transfer.archive_rules import FrameRules
from aio_apiserver.storage.transfer.contents import Contents, text_of


class Archive(Struct, frozen=True):
    """A verified archive at `path`. leases: the seconds that each lease had left."""

    path: Path
    head: ArchiveHead
    end: ArchiveEnd
    leases: Mapping[int, int]

    @property
    def keys(self) -> int:
        """The number of keys."""
        return self.end.keys

    def records(self) -> Iterator[ArchivedRecord | KeptKey]:
        """The frames with keys, in order. Raises BrokenArchive when the file is not the verified one any more."""
        checksum = b""
        with archive_frames.open_file(self.path) as file:
            for frame, summed in archive_frames.read(self.path, file):
                checksum = summed
                if isinstance(frame, ArchivedRecord | KeptKey):
                    yield frame
        if checksum != self.end.checksum:
            raise BrokenArchive(f"{self.path}: it has changed while it was read")

    def is_earlier(self, contents: Contents) -> bool:
        """Whether it is an earlier state of a store, so that an increment can begin with it."""
        is_before = self.head.prefix == contents.prefix and self.head.revision <= contents.revision
        return is_before and self.head.may_be_of(contents.store_id)


async def write(contents: Contents, path: Path, *, base: int, now: float, advance: Callable[[], None]) -> int:
    """Write an archive; returns the number of keys. `advance` is called for each. Raises StorageError, OSError."""
    with private_files.replacing(path) as file:
        with archive_frames.packed(file) as out:
            keys = await _write_frames(contents, out, base=base, now=now, advance=advance)
        file.seek(0)
        verified(path, file)
    return keys


async def _write_frames(
    contents: Contents, out: FrameWriter, *, base: int, now: float, advance: Callable[[], None]
) -> int:
    out.write(ArchiveHead(FORMAT, contents.prefix, contents.revision, base, now, contents.store_id))
    leases: set[int] = set()
    keys = 0
    async for record in contents.records():
        if record.key.startswith(contents.prefix + PLACE):
            raise UnfinishedCopy("a restore or a migration into the store has not been completed: complete it first")
        if record.lease and record.lease not in leases:
            leases.add(record.lease)
            out.write(ArchivedLease(record.lease, await contents.lease_seconds(record.lease)))
        if record.mod_revision > base:
            out.write(ArchivedRecord(*(getattr(record, name) for name in Record.__struct_fields__)))
        else:
            out.write(KeptKey(record.key, record.mod_revision))
        keys += 1
        advance()
    out.write(ArchiveEnd(keys, out.checksum))
    return keys


def opened(path: Path) -> Archive:
    """The archive at a path, after a check of all its bytes. Raises BrokenArchive, OSError."""
    with archive_frames.open_file(path) as file:
        return verified(path, file)


def verified(path: Path, file: BinaryIO) -> Archive:
    """The archive in a file, after a check of all its bytes. Raises BrokenArchive."""
    rules, checksum = FrameRules(), b""
    for frame, summed in archive_frames.read(path, file):
        try:
            rules.check(frame)
        except BrokenArchive as exc:
            raise BrokenArchive(f"{path}: {exc}") from exc
        checksum = summed
    if rules.head is None or rules.end is None:
        raise BrokenArchive(f"{path}: it is cut off")
    if (rules.end.keys, rules.end.checksum) != (rules.keys, checksum):
        raise BrokenArchive(f"{path}: its checksum is wrong")
    return Archive(path, rules.head, rules.end, rules.leases)


class Restorable(Struct, frozen=True):
    """The contents of a full backup with its increments: a store at the revision of the newest one."""

    prefix: bytes
    revision: int
    count: int
    leases: Mapping[int, int]
    chain: tuple[Archive, ...]

    async def records(self) -> AsyncIterator[Record]:
        """The records in order of their keys. Raises BrokenArchive when a file has changed since it was verified."""
        for record in _records(self.chain):
            yield record

    async def lease_seconds(self, lease: int) -> int:
        return self.leases.get(lease, 0)


def restorable(*paths: Path) -> Restorable:
    """The contents of a full backup and its increments, in this order. Raises BrokenArchive, OSError."""
    chain = tuple(opened(path) for path in paths)
    expected, store_id = 0, b""
    for archive in chain:
        if archive.head.base != expected:
            wanted = f"the increment of revision {expected}" if expected else "a full backup"
            raise BrokenArchive(f"{archive.path}: it is not {wanted}: its base is revision {archive.head.base}")
        if not archive.head.may_be_of(store_id) or archive.head.prefix != chain[0].head.prefix:
            raise BrokenArchive(f"{archive.path}: it is a backup of another store than {chain[0].path}")
        expected, store_id = archive.head.revision, store_id or archive.head.store_id
    if len(chain) > 1:
        for _ in _records(chain):  # before the first write, each increment must fit to its base
            pass
    newest = chain[-1]
    return Restorable(newest.head.prefix, newest.head.revision, newest.keys, newest.leases, chain)


class _Cursor:
    """Reads the keys of an archive in order."""

    def __init__(self, archive: Archive) -> None:
        self.path = archive.path
        self._frames = archive.records()
        self._ahead = next(self._frames, None)

    def next(self) -> ArchivedRecord | KeptKey | None:
        """The next key."""
        current, self._ahead = self._ahead, next(self._frames, None)
        return current

    def at(self, key: bytes) -> ArchivedRecord | KeptKey | None:
        """The frame of a key; frames before it are skipped."""
        while self._ahead is not None and self._ahead.key < key:
            self.next()
        return self._ahead if self._ahead is not None and self._ahead.key == key else None


def _records(chain: Sequence[Archive]) -> Iterator[Record]:
    """The records of the newest archive. Raises BrokenArchive when an increment does not fit to its base."""
    cursors = [_Cursor(archive) for archive in chain]
    newest = cursors[-1]
    while (frame := newest.next()) is not None:
        yield _resolved(frame, cursors[:-1])


def _resolved(frame: ArchivedRecord | KeptKey, older: list[_Cursor]) -> Record:
    """The record of a frame; that of a kept key stands in an older archive."""
    resolved: ArchivedRecord | KeptKey | None = frame
    for cursor in reversed(older):
        if isinstance(resolved, KeptKey):
            resolved = cursor.at(frame.key)
    if not isinstance(resolved, ArchivedRecord) or resolved.mod_revision != frame.mod_revision:
        raise BrokenArchive(f"the base of the increment lacks the key {text_of(frame.key)}")
    return Record(*(getattr(resolved, name) for name in Record.__struct_fields__))
