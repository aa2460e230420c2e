"""Files: the file system of a simulated container, in memory.

It knows no waiting. Paths are absolute. Must hold: each tree has a limit for its bytes and its files, and all of them
together count for the memory of the server.

    /tmp/f        in the container's own tree
    /cache/f      in the tree of a volume, such as an emptyDir, that is mounted at /cache, there as /f
    /etc/conf/f   in a ConfigMap, read-only
"""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from aio_apiserver.simulation.containers.memory import Holder, Memory, OutOfMemory

MOST_BYTES = 16 * 1024 * 1024
_MOST_FILES = 5_000
_BYTES_OF_A_FILE = 256
"""What a file takes beside its contents and its path."""
_FULL = "No space left on device"
_DIRECTORIES = ("/", "/bin", "/etc", "/home", "/root", "/tmp", "/usr", "/usr/bin", "/var", "/var/log")  # noqa: S108


class FileError(Exception):
    """A file that is missing, a directory, read-only, or too much."""


class FileTree:
    """Files and directories by path. Containers share that of a volume."""

    def __init__(self, memory: Memory, directories: Iterable[str] = ("/",)) -> None:
        self.files: dict[str, bytes] = {}
        self.directories = set(directories)
        self._holder = Holder(memory)

    @property
    def count(self) -> int:
        """The number of files and directories."""
        return len(self.files) + len(self.directories)

    def write(self, path: str, data: bytes) -> None:
        """Write a file, and make its directories. Raises FileError."""
        before = self.files.get(path)
        self._hold(len(data) - len(before) if before is not None else _size(path) + len(data))
        self.files[path] = data
        self.make_directory(posixpath.dirname(path))

    def make_directory(self, path: str) -> None:
        """Make a directory with those above it. Raises FileError."""
        while path not in self.directories:
            self._hold(_size(path))
            self.directories.add(path)
            path = posixpath.dirname(path)

    def remove(self, path: str) -> bool:
        """Remove a file, or a directory with all below. Returns whether there was one."""
        files, directories = (_below(path, every) for every in (self.files, self.directories))
        for one in files:
            self._hold(-_size(one) - len(self.files.pop(one)))
        for one in directories:
            self._hold(-_size(one))
        self.directories.difference_update(directories)
        return bool(files or directories)

    def _hold(self, more: int) -> None:
        """Have more bytes, or fewer. Raises FileError."""
        size = self._holder.size + more
        if more > 0 and (size > MOST_BYTES or self.count >= _MOST_FILES):
            raise FileError(_FULL)
        try:
            self._holder.hold(max(0, size))
        except OutOfMemory:
            raise FileError(_FULL) from None


def _size(path: str) -> int:
    return _BYTES_OF_A_FILE + len(path)


def tree_of(contents: Mapping[str, bytes], memory: Memory) -> FileTree:
    """A tree with these files. Raises FileError."""
    tree = FileTree(memory)
    for path, data in contents.items():
        tree.write(path, data)
    return tree


class SharedTree(Struct, frozen=True):
    """A tree that is mounted at a path. `inside`: the directory of the tree that is there, empty for all of it."""

    path: str
    tree: FileTree
    inside: str = ""

    def has(self, path: str) -> bool:
        return path == self.path or path.startswith(f"{self.path}/")

    def within(self, path: str) -> str:
        """The path in the tree for a path in the container."""
        return self.inside + path[len(self.path) :] or "/"

    def mounted_paths(self, every: Iterable[str]) -> Iterator[tuple[str, str]]:
        """The paths in the container for paths of the tree, and those."""
        for one in every:
            if one.startswith(f"{self.inside}/"):
                yield self.path + one[len(self.inside) :].rstrip("/"), one


class SharedPath(NamedTuple):
    """A volume with files that is mounted at a path, or a directory inside of it."""

    path: str
    volume: str
    inside: str = ""


def shared_trees(paths: Iterable[SharedPath], tree_of: Callable[[str], FileTree]) -> Sequence[SharedTree]:
    """The trees of volumes at their paths."""
    return [SharedTree(one.path, tree_of(one.volume), one.inside) for one in paths]


class Files:
    """Written files over those of mounted volumes."""

    def __init__(
        self, memory: Memory, mounts: Mapping[str, bytes] | None = None, shared: Iterable[SharedTree] = ()
    ) -> None:
        self._own = SharedTree("", FileTree(memory, _DIRECTORIES))
        self._shared = sorted(shared, key=lambda one: -len(one.path))
        """The deepest come first."""
        self.mount(mounts or {})
        for one in self._shared:
            self._own.tree.make_directory(one.path)
            one.tree.make_directory(one.inside or "/")

    def mount(self, mounts: Mapping[str, bytes]) -> None:
        """Replace the mounted files, by path."""
        self._mounts = mounts
        self._mounted_directories = {above for path in mounts for above in _above(path)}

    @property
    def volumes(self) -> int:
        """The number of volumes, one of which has a path."""
        return len(self._shared)

    @property
    def count(self) -> int:
        """The number of files and directories."""
        return len(self._mounts) + sum(1 + one.tree.count for one in (self._own, *self._shared))

    def _at(self, path: str) -> tuple[FileTree, str]:
        """The tree for a path, and the path in it."""
        mounted = next((one for one in self._shared if one.has(path)), self._own)
        return mounted.tree, mounted.within(path)

    def _all(self) -> dict[str, bytes]:
        contents = dict(self._mounts)
        for mounted in (self._own, *self._shared):
            paths = mounted.mounted_paths(mounted.tree.files)
            contents.update({path: mounted.tree.files[one] for path, one in paths})
        return contents

    def _directories(self) -> set[str]:
        return {
            path or "/"
            for mounted in (self._own, *self._shared)
            for path, _ in mounted.mounted_paths(mounted.tree.directories)
        } | self._mounted_directories

    def written(self, path: str) -> bytes | None:
        """The contents of a file that a program has written; None without one."""
        tree, inside = self._at(path)
        return tree.files.get(inside)

    def read(self, path: str) -> bytes:
        """The contents of a file. Raises FileError."""
        if path == "/dev/null":
            return b""
        data = self.written(path)
        data = self._mounts.get(path) if data is None else data
        if data is None:
            raise FileError("Is a directory" if self.is_directory(path) else "No such file or directory")
        return data

    def write(self, path: str, data: bytes, *, appends: bool = False) -> None:
        """Write a file. Raises FileError."""
        if path.startswith("/dev/"):
            return
        if self.is_directory(path):
            raise FileError("Is a directory")
        if path in self._mounts:
            raise FileError("Read-only file system")
        tree, inside = self._at(path)
        tree.write(inside, tree.files.get(inside, b"") + data if appends else data)

    def make_directory(self, path: str) -> None:
        """Make a directory with those above it. Raises FileError."""
        tree, inside = self._at(path)
        tree.make_directory(inside)

    def remove(self, path: str, *, is_recursive: bool = False) -> None:
        """Remove a file, or a directory with all files below. Raises FileError."""
        if self.is_directory(path) and not is_recursive:
            raise FileError("Is a directory")
        if any(one.path == path for one in self._shared):
            raise FileError("Resource busy")
        tree, inside = self._at(path)
        if not tree.remove(inside):
            raise FileError("Read-only file system" if path in self._mounts else "No such file or directory")

    def is_directory(self, path: str) -> bool:
        tree, inside = self._at(path)
        return inside in tree.directories or path in self._mounted_directories

    def require_directory(self, path: str) -> None:
        """Raises FileError when a path is no directory."""
        if not self.is_directory(path):
            raise FileError(f"{path}: No such file or directory")

    def exists(self, path: str) -> bool:
        return self.written(path) is not None or path in self._mounts or self.is_directory(path)

    def names(self, path: str) -> list[str]:
        """The names in a directory."""
        prefix = path.rstrip("/") + "/"
        below = [one[len(prefix) :] for one in (*self._all(), *self._directories()) if one.startswith(prefix)]
        return sorted({one.partition("/")[0] for one in below if one})

    def below(self, path: str) -> Iterator[tuple[str, bytes]]:
        """A file, or all files below a directory, by path."""
        everything = self._all()
        for one in sorted(_below(path, everything)):
            yield one, everything[one]


def _above(path: str) -> Iterator[str]:
    """The directories above a path, up to the root."""
    while path not in ("/", ""):
        path = posixpath.dirname(path)
        yield path


def _below(path: str, every: Iterable[str]) -> list[str]:
    """A path, and those in its directory."""
    prefix = path.rstrip("/") + "/"
    return [one for one in every if one == path or one.startswith(prefix)]
