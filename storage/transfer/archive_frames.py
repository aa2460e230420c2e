"""archive_frames: the frames of a backup's file: a length, then a message; and their bounds.

    head, record or kept key or lease ..., end

The file may come from another user, and may be made to harm. Must hold: a frame takes at most MAX_FRAME_BYTES of
memory, whatever its length says and however small the file is. The file is a regular one.
"""

import gzip
import hashlib
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from aio_apiserver.storage.errors import StorageError

FORMAT = 1
MAX_FRAME_BYTES = 16 << 20
"""Ten times the largest value of the engines. An etcd may allow larger requests than theirs."""
MAGIC = b"aio-apiserver backup\n"
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


class FrameWriter:
    """Writes frames with their length, and sums them."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self._encoder = msgspec.msgpack.Encoder()
        self._sum = hashlib.sha256()
        self._file.write(MAGIC)

    @property
    def checksum(self) -> bytes:
        return self._sum.digest()

    def write(self, frame: ArchiveFrame) -> None:
        """Write a frame. Raises BrokenArchive for one that no reader would take."""
        data = self._encoder.encode(frame)
        if len(data) > MAX_FRAME_BYTES:
            raise BrokenArchive(f"a value of {len(data)} bytes is too large for a backup: at most {MAX_FRAME_BYTES}")
        self._sum.update(data)
        self._file.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)


@contextmanager
def packed(file: BinaryIO) -> Iterator[FrameWriter]:
    """A writer of frames into a file, which is compressed."""
    with gzip.GzipFile("", "wb", _FASTEST, file, mtime=0) as compressed:
        yield FrameWriter(compressed)


def open_file(path: Path) -> BinaryIO:
    """The file to read. Raises BrokenArchive for a pipe or a device, OSError."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise BrokenArchive(f"{path}: it is no file")
    return file


def read(path: Path, file: BinaryIO) -> Iterator[tuple[ArchiveFrame, bytes]]:
    """The frames in a file, the end with the checksum of all before. Raises BrokenArchive. `path` is for errors."""
    decoder = msgspec.msgpack.Decoder[ArchiveFrame](ArchiveFrame)
    summed = hashlib.sha256()
    with gzip.open(file, "rb") as content:
        try:
            if not _is_backup(content):
                raise BrokenArchive(f"{path}: it is no backup of this program")
            while length := _exactly(content, _LENGTH_BYTES, or_none=True):
                data = _exactly(content, _checked(int.from_bytes(length, "big"), path))
                frame = decoder.decode(data)
                yield frame, summed.digest() if isinstance(frame, ArchiveEnd) else b""
                summed.update(data)
        except (EOFError, zlib.error, gzip.BadGzipFile, msgspec.MsgspecError) as exc:
            raise BrokenArchive(f"{path}: it is damaged or cut off: {exc}") from exc


def _is_backup(content: gzip.GzipFile) -> bool:
    """Whether a file begins as a backup does. Raises EOFError, zlib.error for the rest of one."""
    try:
        return content.read(len(MAGIC)) == MAGIC
    except gzip.BadGzipFile:
        return False


def _checked(length: int, path: Path) -> int:
    if length > MAX_FRAME_BYTES:
        raise BrokenArchive(f"{path}: it is damaged: a frame of {length} bytes, at most {MAX_FRAME_BYTES} are allowed")
    return length


def _exactly(content: gzip.GzipFile, size: int, *, or_none: bool = False) -> bytes:
    data = content.read(size)
    if len(data) != size and not (or_none and not data):
        raise EOFError(f"{size - len(data)} bytes are missing")
    return data
