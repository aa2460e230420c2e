"""Archive: the file of a backup: a head, records, leases, and an end with a checksum, compressed with gzip.

An incremental archive names the revision of its base. It holds the records that are newer, and of all others their key
and revision.

Must hold: an archive gets its name when it is verified and on the disk. A reader has verified the checksum before it
returns the first record. The file is readable by its owner alone, because it holds Secrets.
"""

import gzip
import hashlib
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from aio_apiserver.base import private_files
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.transfer.contents import Contents

FORMAT = 1
_MAGIC = b"aio-apiserver backup\n"
_LENGTH_BYTES = 4
_FASTEST = 1


class BrokenArchive(StorageError):
    """A file that is no backup, is damaged, or does not fit to its base."""


class ArchiveHead(Struct, frozen=True, array_like=True, tag="head"):
    """The beginning: the store's prefix and revision. `base`: the revision of the base, 0 for a full backup.

    store_id: the identity of the store; empty in backups of earlier releases.
    """

    format: int
    prefix: bytes
    revision: int
    base: int
    made: float
    store_id: bytes = b""

    def is_earlier(self, contents: Contents) -> bool:
        """Whether it is an earlier state of a store, so that an increment can begin with it."""
        is_before = self.prefix == contents.prefix and self.revision <= contents.revision
        return is_before and self.may_be_of(contents.store_id)

    def may_be_of(self, store_id: bytes) -> bool:
        """Whether the store can have this identity. An identity that is unknown, here or there, excludes nothing."""
        return store_id == self.store_id or not (store_id and self.store_id)


class ArchivedRecord(Struct, frozen=True, array_like=True, tag="record"):
    """A record, with its value."""

    key: bytes
    value: bytes
    create_revision: int
    mod_revision: int
    version: int
    lease: int


class KeptKey(Struct, frozen=True, array_like=True, tag="kept"):
    """A key that has not changed since the base."""

    key: bytes
    mod_revision: int


class ArchivedLease(Struct, frozen=True, array_like=True, tag="lease"):
    """The seconds that a lease had left. It comes before its first record."""

    lease: int
    seconds: int


class ArchiveEnd(Struct, frozen=True, array_like=True, tag="end"):
    """The end: the number of keys, and the SHA-256 of all frames before."""

    keys: int
    checksum: bytes


ArchiveFrame = ArchiveHead | ArchivedRecord | KeptKey | ArchivedLease | ArchiveEnd


class Archive(Struct, frozen=True):
    """A verified archive at `path`."""

    path: Path
    head: ArchiveHead
    keys: int

    def frames(self) -> Iterator[ArchivedRecord | KeptKey | ArchivedLease]:
        """All frames between head and end."""
        with self.path.open("rb") as file:
            for frame, _ in _frames(self.path, file):
                if isinstance(frame, ArchivedRecord | KeptKey | ArchivedLease):
                    yield frame


async def write(contents: Contents, path: Path, *, base: int, now: float, advance: Callable[[], None]) -> int:
    """Write an archive; returns the number of keys. `advance` is called for each. Raises StorageError, OSError."""
    with private_files.replacing(path) as file:
        with gzip.GzipFile("", "wb", _FASTEST, file, mtime=0) as packed:
            packed.write(_MAGIC)
            keys = await _write_frames(contents, _FrameWriter(packed), base=base, now=now, advance=advance)
        file.seek(0)
        _verified(path, file)
    return keys


async def _write_frames(
    contents: Contents, out: "_FrameWriter", *, base: int, now: float, advance: Callable[[], None]
) -> int:
    out.write(ArchiveHead(FORMAT, contents.prefix, contents.revision, base, now, contents.store_id))
    leases: set[int] = set()
    keys = 0
    async for record in contents.records():
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


class _FrameWriter:
    """Writes frames with their length, and sums them."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self._encoder = msgspec.msgpack.Encoder()
        self._sum = hashlib.sha256()

    @property
    def checksum(self) -> bytes:
        return self._sum.digest()

    def write(self, frame: ArchiveFrame) -> None:
        data = self._encoder.encode(frame)
        self._sum.update(data)
        self._file.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)


def opened(path: Path) -> Archive:
    """The archive at a path, after a check of all its bytes. Raises BrokenArchive, OSError."""
    with path.open("rb") as file:
        return _verified(path, file)


def _verified(path: Path, file: BinaryIO) -> Archive:
    """The archive in a file, after a check of all its bytes. Raises BrokenArchive."""
    head: ArchiveHead | None = None
    end: ArchiveEnd | None = None
    keys, summed = 0, b""
    for frame, before in _frames(path, file):
        if end is not None:
            raise BrokenArchive(f"{path}: there is more behind its end")
        if isinstance(frame, ArchiveHead):
            head = frame
        elif isinstance(frame, ArchiveEnd):
            end, summed = frame, before
        else:
            keys += not isinstance(frame, ArchivedLease)
    if head is None or end is None:
        raise BrokenArchive(f"{path}: it is cut off")
    if head.format != FORMAT:
        raise BrokenArchive(f"{path}: it has format {head.format}, this program knows {FORMAT}")
    if (end.keys, end.checksum) != (keys, summed):
        raise BrokenArchive(f"{path}: its checksum is wrong")
    return Archive(path, head, keys)


class Restorable(Struct, frozen=True):
    """The contents of a full backup with its increments: a store at the revision of the newest one."""

    prefix: bytes
    revision: int
    count: int
    leases: Mapping[int, int]
    chain: tuple[Archive, ...]

    async def records(self) -> AsyncIterator[Record]:
        """The records in order of their keys. Raises BrokenArchive when an increment does not fit to its base."""
        streams = [_Cursor(archive) for archive in self.chain]
        newest = streams[-1]
        while (frame := newest.next()) is not None:
            yield _resolved(frame, streams[:-1])

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
        if not archive.head.may_be_of(store_id):
            raise BrokenArchive(f"{archive.path}: it is a backup of another store than {chain[0].path}")
        expected, store_id = archive.head.revision, store_id or archive.head.store_id
    newest = chain[-1]
    leases = {one.lease: one.seconds for one in newest.frames() if isinstance(one, ArchivedLease)}
    return Restorable(newest.head.prefix, newest.head.revision, newest.keys, leases, chain)


class _Cursor:
    """Reads the keys of an archive in order."""

    def __init__(self, archive: Archive) -> None:
        self.path = archive.path
        self._frames = (frame for frame in archive.frames() if not isinstance(frame, ArchivedLease))
        self._ahead = next(self._frames, None)

    def next(self) -> ArchivedRecord | KeptKey | None:
        found, self._ahead = self._ahead, next(self._frames, None)
        return found

    def at(self, key: bytes) -> ArchivedRecord | KeptKey | None:
        """The frame of a key; frames before it are skipped."""
        while self._ahead is not None and self._ahead.key < key:
            self.next()
        return self._ahead if self._ahead is not None and self._ahead.key == key else None


def _resolved(frame: ArchivedRecord | KeptKey, older: list[_Cursor]) -> Record:
    """The record of a frame; that of a kept key stands in an older archive."""
    found: ArchivedRecord | KeptKey | None = frame
    for cursor in reversed(older):
        if isinstance(found, KeptKey):
            found = cursor.at(frame.key)
    if not isinstance(found, ArchivedRecord) or found.mod_revision != frame.mod_revision:
        raise BrokenArchive(f"the base of the increment lacks the key {frame.key.decode(errors='backslashreplace')}")
    return Record(*(getattr(found, name) for name in Record.__struct_fields__))


def _frames(path: Path, packed: BinaryIO) -> Iterator[tuple[ArchiveFrame, bytes]]:
    """The frames, each with the checksum of those before. Raises BrokenArchive."""
    decoder = msgspec.msgpack.Decoder[ArchiveFrame](ArchiveFrame)
    summed = hashlib.sha256()
    with gzip.open(packed, "rb") as file:
        try:
            if not _is_backup(file):
                raise BrokenArchive(f"{path}: it is no backup of this program")
            while length := _exactly(file, _LENGTH_BYTES, or_none=True):
                data = _exactly(file, int.from_bytes(length, "big"))
                frame = decoder.decode(data)
                yield frame, summed.digest() if isinstance(frame, ArchiveEnd) else b""
                summed.update(data)
        except (EOFError, zlib.error, gzip.BadGzipFile, msgspec.MsgspecError) as exc:
            raise BrokenArchive(f"{path}: it is damaged or cut off: {exc}") from exc


def _is_backup(file: gzip.GzipFile) -> bool:
    """Whether a file begins as a backup does. Raises EOFError, zlib.error for the rest of one."""
    try:
        return file.read(len(_MAGIC)) == _MAGIC
    except gzip.BadGzipFile:
        return False


def _exactly(file: gzip.GzipFile, size: int, *, or_none: bool = False) -> bytes:
    data = file.read(size)
    if len(data) != size and not (or_none and not data):
        raise EOFError(f"{size - len(data)} bytes are missing")
    return data
