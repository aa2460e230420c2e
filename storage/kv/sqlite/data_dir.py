"""DataDir: the directory of the store's files, held by one process.

The lock is the operating system's: it ends with the process, however that ends, so nothing stale is ever left behind.
The lock file says who holds it, for people. Knows nothing of SQLite.
"""

import os
import sys
from pathlib import Path

from aio_apiserver.storage.errors import DataDirLocked

_LOCK_NAME = "lock"
_DATABASE_NAME = "store.db"
_PID_BYTES = 20
"""The pid is written over the old one in place: truncating first would need a new block, which a full disk refuses."""

if sys.platform == "win32":
    import msvcrt

    _LOCKED_BYTE = 1 << 30  # far behind the pid, which others must be able to read

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class DataDir:
    """The directory at `path`; others may have it until `acquire` has returned."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = -1

    def acquire(self) -> None:
        """Lock it; made, for its owner alone, if it does not exist. Raises DataDirLocked, OSError."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.path / _LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _hold(descriptor, self.path)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    @property
    def database(self) -> Path:
        return self.path / _DATABASE_NAME

    @property
    def size(self) -> int:
        """The bytes of the database and of its log."""
        files = (self.database, self.database.with_name(f"{_DATABASE_NAME}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def create_database_file(self) -> None:
        """Make an empty database file that only its owner may read, if there is none; SQLite's other files follow it.

        Only before SQLite opens the file: closing a second descriptor of it would drop SQLite's own locks.
        """
        os.close(os.open(self.database, os.O_RDWR | os.O_CREAT, 0o600))

    def release(self) -> None:
        """Let others have it. Safe to call twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _hold(descriptor: int, path: Path) -> None:
    try:
        _lock(descriptor)
    except (BlockingIOError, PermissionError) as exc:
        raise DataDirLocked(f"data directory {path} is in use by process {_holder(descriptor)}") from exc
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, str(os.getpid()).encode().ljust(_PID_BYTES))


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, _PID_BYTES).decode(errors="replace").strip() or "unknown"
