"""Files: the file system of a simulated container, in memory.

It knows no waiting. Paths are absolute. Must hold: the sum of all written files has a limit.
"""

import fnmatch
import posixpath
from collections.abc import Iterator, Mapping

MOST_BYTES = 16 * 1024 * 1024
_DIRECTORIES = ("/", "/bin", "/etc", "/home", "/root", "/tmp", "/usr", "/usr/bin", "/var", "/var/log")  # noqa: S108


class FileError(Exception):
    """A file that is missing, a directory, read-only, or too much."""


class Files:
    """Written files over those of mounted volumes."""

    def __init__(self, mounts: Mapping[str, bytes] | None = None) -> None:
        self._mounts = mounts or {}
        self._written: dict[str, bytes] = {}
        self._directories = set(_DIRECTORIES)
        self._size = 0

    def mount(self, mounts: Mapping[str, bytes]) -> None:
        """Replace the mounted files, by path."""
        self._mounts = mounts

    def _all(self) -> dict[str, bytes]:
        return {**self._mounts, **self._written}

    def read(self, path: str) -> bytes:
        """The contents of a file. Raises FileError."""
        if path == "/dev/null":
            return b""
        data = self._written.get(path)
        data = self._mounts.get(path) if data is None else data
        if data is None:
            raise FileError("Is a directory" if self.is_directory(path) else "No such file or directory")
        return data

    def write(self, path: str, data: bytes, *, appends: bool = False) -> None:
        """Write a file, and make its directories. Raises FileError."""
        if path.startswith("/dev/"):
            return
        if self.is_directory(path):
            raise FileError("Is a directory")
        if path in self._mounts:
            raise FileError("Read-only file system")
        before = self._written.get(path, b"")
        data = before + data if appends else data
        if self._size + len(data) - len(before) > MOST_BYTES:
            raise FileError("No space left on device")
        self._size += len(data) - len(before)
        self._written[path] = data
        self.make_directory(posixpath.dirname(path))

    def make_directory(self, path: str) -> None:
        while path not in self._directories:
            self._directories.add(path)
            path = posixpath.dirname(path)

    def remove(self, path: str, *, is_recursive: bool = False) -> None:
        """Remove a file, or a directory with all files below. Raises FileError."""
        if self.is_directory(path) and not is_recursive:
            raise FileError("Is a directory")
        gone = [one for one in self._written if one == path or one.startswith(f"{path}/")]
        if not gone and path not in self._directories:
            raise FileError("Read-only file system" if path in self._mounts else "No such file or directory")
        for one in gone:
            self._size -= len(self._written.pop(one))
        self._directories -= {one for one in self._directories if one == path or one.startswith(f"{path}/")}

    def is_directory(self, path: str) -> bool:
        prefix = path.rstrip("/") + "/"
        return path in self._directories or any(one.startswith(prefix) for one in self._all())

    def require_directory(self, path: str) -> None:
        """Raises FileError when a path is no directory."""
        if not self.is_directory(path):
            raise FileError(f"{path}: No such file or directory")

    def exists(self, path: str) -> bool:
        return path in self._written or path in self._mounts or self.is_directory(path)

    def names(self, path: str) -> list[str]:
        """The names in a directory."""
        prefix = path.rstrip("/") + "/"
        below = [one[len(prefix) :] for one in (*self._all(), *self._directories) if one.startswith(prefix)]
        return sorted({one.partition("/")[0] for one in below if one})

    def below(self, path: str) -> Iterator[tuple[str, bytes]]:
        """A file, or all files below a directory, by path."""
        prefix = path.rstrip("/") + "/"
        for one, data in sorted(self._all().items()):
            if one == path or one.startswith(prefix):
                yield one, data

    def matching(self, pattern: str) -> list[str]:
        """The paths that match a pattern with `*` and `?` in its last part."""
        directory, last = posixpath.split(pattern)
        return [posixpath.join(directory, name) for name in fnmatch.filter(self.names(directory or "/"), last)]
