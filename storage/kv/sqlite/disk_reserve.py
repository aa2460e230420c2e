"""disk_reserve: DiskReserve, a file that keeps some space of the disk for deletions.

SQLite writes each deletion to its log first, and a disk without a free block takes none. Then the file goes. Its space
takes the log into the database, and is for deletions and compaction alone, until there is room again. A server that
starts on a full disk needs it, too: for that, a small part stays when the server has stopped.

Must hold: the file takes a small part of the disk, and none of a disk that is nearly full.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

_SHARE = 8
"""Of a small disk, the file has this part."""
_ROOM_TIMES = 2
"""The free space in times of the file that it needs when it is made."""
_AT_REST_BYTES = 1 << 20
_NAME = "reserve"


class DiskReserve:
    """The reserve in the directory of a store. A size of 0 is none."""

    def __init__(self, directory: Path, size: int) -> None:
        self._path = directory / _NAME
        self._size = size

    def fill(self) -> bool:
        """Make the file, if there is room. Returns whether it exists now, or need not."""
        if not self._size:
            return True
        size, free = self._measured()
        present = self._path.lstat().st_size if self._path.exists() else 0
        if present >= size:
            return True
        if free + present < _ROOM_TIMES * size:
            return False
        self.release()
        return _is_allocated(self._path, size)

    def release(self) -> bool:
        """Free the space. Returns whether there was any."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True

    def keep(self) -> None:
        """Leave a small file for the next start."""
        if not self._size:
            return
        if not self._path.exists():
            _is_allocated(self._path, min(_AT_REST_BYTES, self._size))
        elif self._path.lstat().st_size > _AT_REST_BYTES:
            os.truncate(self._path, _AT_REST_BYTES)

    def _measured(self) -> tuple[int, int]:
        """The size that the file should have, and the free space."""
        if sys.platform == "win32":
            return self._size, 0
        disk = os.statvfs(self._path.parent)
        return min(self._size, disk.f_blocks * disk.f_frsize // _SHARE), disk.f_bavail * disk.f_frsize


def _is_allocated(path: Path, size: int) -> bool:
    """Make the file. Returns whether there was room."""
    try:
        _allocate(path, size)
    except OSError:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return False
    return True


def _allocate(path: Path, size: int) -> None:
    """A new file whose blocks the file system has given. Raises OSError."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
        else:
            os.write(descriptor, bytes(size))
    finally:
        os.close(descriptor)
