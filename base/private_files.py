"""Private files: the one way in which the program writes a file that a user names, and each file with a secret.

Another user of the machine may write in the folder, as in /tmp. So the content goes to a file of a random name, which
is new and belongs to this process. That file takes the path when its content is complete and on the disk.

Must hold: no other user can own or read a private file, or direct its content to a file of his choice. A link or a
file of another user at the path is replaced, and stays as it is. A reader sees the old or the new content.
"""

import errno
import fcntl
import glob
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PRIVATE = 0o600
PUBLIC = 0o644
_DIRECTORY = 0o700
LOCK_NAME = ".lock"
_UNFINISHED = ".unfinished"
_NAME_CHARACTERS = 32
"""How much of a long name the name of its unfinished file has. A file system allows 255 bytes."""
_LEFTOVER_SECONDS = 3600.0
"""A process that was killed leaves an unfinished file. One that lives writes to it more often than this."""


def make_private(directory: Path) -> None:
    """Create a directory and its missing parents, with mode 0700.

    mkdir gives its mode to the last one only.
    """
    missing = [one for one in (directory, *directory.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=_DIRECTORY, exist_ok=True)


def put(path: Path, content: bytes, *, mode: int = PRIVATE, is_durable: bool = True) -> None:
    """Replace a file, and create missing folders. Raises OSError with its name."""
    if mode == PRIVATE:
        make_private(path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, mode=mode, is_durable=is_durable) as file:
        file.write(content)


def put_changed(path: Path, content: bytes) -> bool:
    """Put a private file in place, unless it has this content already. Returns whether it was another one."""
    has_content = path.exists() and path.read_bytes() == content
    if has_content and _is_private(path):
        return False
    put(path, content)
    return not has_content


@contextmanager
def replacing(path: Path, *, mode: int = PRIVATE, is_durable: bool = True) -> Iterator[BinaryIO]:
    """A new file, to write and to read, which takes the path at the end of the block. Raises OSError with its name.

    A block that fails leaves the path as it was. is_durable: wait until the disk has the file.
    """
    with _named_in_errors(path):
        _check_replaceable(path)
        prefix = f".{path.name[:_NAME_CHARACTERS]}."
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=_UNFINISHED)
        unfinished = Path(name)
        try:
            with os.fdopen(descriptor, "w+b") as file:
                os.fchmod(descriptor, mode)
                _remove_leftovers(unfinished, prefix)
                yield file
                file.flush()
                if is_durable:
                    os.fsync(descriptor)
                unfinished.replace(path)
                _check_owner(path, descriptor)
            if is_durable:
                _sync_folder(path.parent)
        finally:
            unfinished.unlink(missing_ok=True)


def followed(path: Path) -> Path:
    """The file to which the links at a path lead. Raises PermissionError for a link of another user."""
    if path.is_symlink():
        _check_trusted(path.lstat().st_uid, path)
    return path.resolve()


def open_to_append(path: Path) -> int:
    """The descriptor of a log, which may be a device or a pipe. Raises PermissionError for a file of another user."""
    if path.is_symlink():
        _check_trusted(path.lstat().st_uid, path)
    descriptor = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC, PRIVATE)
    try:
        present = os.fstat(descriptor)
        if stat.S_ISREG(present.st_mode):
            _check_trusted(present.st_uid, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One block of all processes at a time. Raises OSError, also when a link is in place of the lock."""
    descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _named_in_errors(path: Path) -> Iterator[None]:
    """Errors name the path: a full disk names no file, and the other errors name the unfinished one."""
    try:
        yield
    except OSError as exc:
        if exc.filename is None or _UNFINISHED in str(exc.filename):
            exc.filename = str(path)
        exc.filename2 = None
        raise


def _is_private(path: Path) -> bool:
    """Whether the file is no link, and no other user can read or write it."""
    present = path.lstat()
    is_own = stat.S_ISREG(present.st_mode) and present.st_uid == os.geteuid()
    return is_own and stat.S_IMODE(present.st_mode) & 0o077 == 0


def _check_replaceable(path: Path) -> None:
    """Raises OSError for a directory, a device or a pipe: a file in its place would harm other programs."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def _check_trusted(owner: int, path: Path) -> None:
    """Raises PermissionError unless root or the user of this process owns a file or a link."""
    if owner not in (0, os.geteuid()):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(path))


def _check_owner(path: Path, descriptor: int) -> None:
    """Raises PermissionError when another user has put a file of his own in place of the unfinished one."""
    present = path.lstat()
    if not stat.S_ISREG(present.st_mode) or present.st_uid != os.fstat(descriptor).st_uid:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(path))


def _remove_leftovers(unfinished: Path, prefix: str) -> None:
    """Remove the unfinished files of killed processes. All times are those of the file system."""
    present = unfinished.lstat()
    for leftover in unfinished.parent.glob(f"{glob.escape(prefix)}????????{_UNFINISHED}"):
        with suppress(FileNotFoundError):
            old = leftover.lstat()
            if old.st_uid == present.st_uid and old.st_mtime < present.st_mtime - _LEFTOVER_SECONDS:
                leftover.unlink()


def _sync_folder(folder: Path) -> None:
    """Wait until the disk knows the new name."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
