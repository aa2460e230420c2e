"""Data dir: the directory of the store's files, locked by one process.

The lock is the operating system's: it ends with the process, so that no stale lock is left. The lock file contains the
process id, for people. It does not know SQLite.
"""

import errno
import os
import sys
from pathlib import Path
from typing import BinaryIO

from aio_apiserver.storage.errors import DataDirLocked, Unavailable

_LOCK_NAME = "lock"
_DATABASE_NAME = "store.db"
_UNFINISHED_NAME = "store.db.loading"
_ROOM_NAME = "room"
_ROOM_BYTES = 256 << 10
"""More than a usual write adds to the write-ahead log."""
_PID_BYTES = 20
"""The pid overwrites the old one in place. Truncating first would need a new block, which a full disk refuses."""

_LITTLE_BYTES = 32 << 20
"""The size to which the write-ahead log may grow before a checkpoint."""

if sys.platform == "win32":
    import msvcrt

    _NO_LINK = 0
    _LOCKED_BYTE = 1 << 30  # far behind the pid, which others must be able to read

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    _NO_LINK = os.O_NOFOLLOW

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class DataDir:
    """The directory at `path`. Another process may use it until `acquire` has returned."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = -1

    def acquire(self) -> None:
        """Lock the directory, and create it with mode 0700 if it does not exist. Raises DataDirLocked, OSError."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except FileExistsError as exc:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self.path)) from exc
        descriptor = os.open(self.path / _LOCK_NAME, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
        try:
            _hold(descriptor, self.path)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def holder(self) -> str:
        """The id of the process that uses the directory; empty when none does. Raises OSError."""
        descriptor = self._open_lock()
        if descriptor is None:
            return ""
        try:
            _lock(descriptor)
        except (BlockingIOError, PermissionError):
            return _holder(descriptor)
        finally:
            os.close(descriptor)
        return ""

    def check_unused(self) -> None:
        """Raises DataDirLocked when a process uses the directory, OSError."""
        if holder := self.holder():
            raise _in_use(self.path, holder)

    def _open_lock(self) -> int | None:
        """The lock file, without a change to it; None when no process has made one. Raises OSError."""
        lock = self.path / _LOCK_NAME
        if not lock.exists():
            return None
        try:
            return os.open(lock, os.O_RDWR)
        except OSError as exc:
            if exc.errno != errno.EROFS:
                raise
            return os.open(lock, os.O_RDONLY)

    @property
    def database(self) -> Path:
        return self.path / _DATABASE_NAME

    @property
    def size(self) -> int:
        """The bytes of the database and of its write-ahead log."""
        files = (self.database, self.database.with_name(f"{_DATABASE_NAME}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    @property
    def is_at_rest(self) -> bool:
        """Whether no process uses the directory, and the database has no write-ahead log. Raises OSError."""
        log = self.database.with_name(f"{_DATABASE_NAME}-wal")
        return not (log.exists() and log.stat().st_size) and not self.holder()

    def check_room(self) -> None:
        """Raises OSError unless the file system has room for some writes. A write of one page could still succeed."""
        path = self.path / _ROOM_NAME
        path.unlink(missing_ok=True)
        try:
            with _new_file(path) as file:
                file.write(bytes(_ROOM_BYTES))
        finally:
            path.unlink(missing_ok=True)

    def shortage(self) -> str:
        """A warning when the disk is nearly full; empty when it is not."""
        if sys.platform == "win32":
            return ""
        disk = os.statvfs(self.path)
        free = disk.f_bavail * disk.f_frsize
        return f"little room left for {self.database}: {free >> 20} MiB" if free < _LITTLE_BYTES else ""

    def create_database_file(self) -> None:
        """Create an empty database file that only its owner may read, if there is none. SQLite's other files get the
        same mode.

        Call it before SQLite opens the file: closing a second descriptor of it would drop SQLite's own locks.
        """
        os.close(os.open(self.database, os.O_RDWR | os.O_CREAT, 0o600))

    def new_database_file(self) -> Path:
        """An empty file beside the database, for a store in the making; what was left of an earlier one goes."""
        path = self.database.with_name(_UNFINISHED_NAME)
        for left in self.path.glob(f"{_UNFINISHED_NAME}*"):
            left.unlink()
        _new_file(path).close()
        return path

    def check(self) -> None:
        """Raises Unavailable when there is no store."""
        if not self.database.exists():
            is_other = self.path.exists() and not self.path.is_dir()
            raise Unavailable(f"{self.path} is not a directory" if is_other else f"there is no store in {self.path}")

    def adopt(self, unfinished: Path) -> None:
        """Make a closed file the database, and wait until the disk knows its name."""
        unfinished.replace(self.database)
        if sys.platform != "win32":
            descriptor = os.open(self.path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def release(self) -> None:
        """Unlock the directory. It may be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _new_file(path: Path) -> BinaryIO:
    """A file that only its owner may read. A link in its place is not followed."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _hold(descriptor: int, path: Path) -> None:
    try:
        _lock(descriptor)
    except (BlockingIOError, PermissionError) as exc:
        raise _in_use(path, _holder(descriptor)) from exc
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, str(os.getpid()).encode().ljust(_PID_BYTES))


def _in_use(path: Path, holder: str) -> DataDirLocked:
    return DataDirLocked(f"data directory {path} is in use by process {holder}")


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, _PID_BYTES).decode(errors="replace").strip() or "unknown"
