"""Error codes: a table from the errors of SQLite and of the file system to those of storage.

Pure. Must hold: a failure after which a write may exist is DeadlineExceeded and not Unavailable. When a commit fails
because the disk is full, its last page, which makes it valid, is not written. When it fails with an I/O error, all of
it may be on the disk. The next commit overwrites it, but a crash before that would bring it back.
"""

import errno
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from aio_apiserver.storage.errors import Corrupt, DeadlineExceeded, NoSpace, StorageError, TooLarge, Unavailable

_PRIMARY_CODE = 0xFF

Translation = Callable[[Path, str], StorageError]


def _no_space(path: Path, text: str) -> StorageError:
    return NoSpace(f"no room left for {path}: {text}")


def _corrupt(path: Path, text: str) -> StorageError:
    return Corrupt(str(path), text)


def _too_large(path: Path, text: str) -> StorageError:
    return TooLarge(f"{path}: {text}")


def _unavailable(path: Path, text: str) -> StorageError:
    return Unavailable(f"{path}: {text}")


_BY_SQLITE_CODE: dict[int, Translation] = {
    sqlite3.SQLITE_FULL: _no_space,
    sqlite3.SQLITE_IOERR_SHMSIZE: _no_space,
    sqlite3.SQLITE_CORRUPT: _corrupt,
    sqlite3.SQLITE_NOTADB: _corrupt,
    sqlite3.SQLITE_TOOBIG: _too_large,
}
"""By extended code where there is an entry, else by primary code. All others (I/O, busy, memory) are Unavailable."""

_BY_ERRNO: dict[int, Translation] = {errno.ENOSPC: _no_space, errno.EDQUOT: _no_space}


class ErrorTranslator:
    """Translates errors of the store whose database is at `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def translate(self, failure: Exception, *, is_commit: bool = False) -> Exception:
        """A new exception with the meaning of the failure. Other exceptions than those of SQLite and files stay as they
        are.
        """
        if not isinstance(failure, sqlite3.Error | OSError):
            return failure
        code = getattr(failure, "sqlite_errorcode", 0)
        if is_commit and code & _PRIMARY_CODE == sqlite3.SQLITE_IOERR:
            return DeadlineExceeded(f"{self._path}: {failure}; the write may reappear after a crash")
        if isinstance(failure, OSError) and failure.errno and isinstance(failure.filename, str):
            return self._translation(failure, code)(Path(failure.filename), os.strerror(failure.errno))
        return self._translation(failure, code)(self._path, str(failure))

    def _translation(self, failure: Exception, code: int) -> Translation:
        if isinstance(failure, OSError):
            return _BY_ERRNO.get(failure.errno or 0, _unavailable)
        return _BY_SQLITE_CODE.get(code) or _BY_SQLITE_CODE.get(code & _PRIMARY_CODE, _unavailable)
