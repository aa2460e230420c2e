"""Trees: the files of one release of Kubernetes, from a git clone or from an unpacked source archive.

A clone is read with git alone, without a work tree, so that one clone gives all releases. Must hold: nothing is
fetched, and nothing in a tree is run.
"""

import subprocess
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

from scripts.upstream.problems import Unusable


class Tree(Protocol):
    """The files of one release. release: its tag, which the tables name."""

    release: str

    @property
    def paths(self) -> Sequence[str]:
        """The paths of all files from the top, sorted."""

    def read(self, path: str) -> str:
        """A file's text. Raises Unusable."""

    def close(self) -> None:
        """Free what reading took."""


class UnpackedTree:
    """A folder with the sources of one release."""

    def __init__(self, folder: Path, release: str) -> None:
        self.release = release
        self._folder = folder

    @cached_property
    def paths(self) -> Sequence[str]:
        files = (path for path in self._folder.rglob("*") if path.is_file())
        return sorted(str(path.relative_to(self._folder)) for path in files)

    def read(self, path: str) -> str:
        try:
            return (self._folder / path).read_text()
        except OSError as exc:
            raise Unusable(f"{self._folder / path} of {self.release} cannot be read: {exc.strerror}") from exc

    def close(self) -> None:
        """Nothing is open."""


class TaggedTree:
    """A tag of a git clone. One process of git reads all files; `close` ends it."""

    def __init__(self, clone: Path, release: str) -> None:
        self.release = release
        self._clone = clone

    @cached_property
    def paths(self) -> Sequence[str]:
        return sorted(_git(self._clone, "ls-tree", "-r", "--name-only", "-z", self.release).split("\0")[:-1])

    def read(self, path: str) -> str:
        requests, answers = self._blobs.stdin, self._blobs.stdout
        assert requests is not None
        assert answers is not None
        requests.write(f"{self.release}:{path}\n".encode())
        requests.flush()
        head = answers.readline().split()
        if head[-1:] == [b"missing"]:
            raise Unusable(f"the clone {self._clone} has no file {path} at {self.release}")
        size = int(head[2])
        text = answers.read(size + 1)[:size]
        return text.decode()

    def close(self) -> None:
        """End the process that reads."""
        if "_blobs" in self.__dict__:
            self._blobs.communicate()

    @cached_property
    def _blobs(self) -> subprocess.Popen[bytes]:
        command = ["git", "-C", str(self._clone), "cat-file", "--batch"]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - no shell


def opened(source: Path, release: str) -> Tree:
    """The tree of a release in a clone, or the folder itself when it is no clone. Raises Unusable."""
    if not source.is_dir():
        raise Unusable(f"there is no folder {source}")
    if not is_clone(source):
        return UnpackedTree(source, release)
    if not _git(source, "tag", "--list", release).strip():
        raise Unusable(f"the clone {source} has no tag {release}")
    return TaggedTree(source, release)


def is_clone(source: Path) -> bool:
    """Whether a folder is a git repository, with or without a work tree."""
    return (source / ".git").exists() or ((source / "HEAD").is_file() and (source / "objects").is_dir())


def _git(clone: Path, *arguments: str) -> str:
    command = ["git", "-C", str(clone), *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - no shell
    if answer.returncode:
        raise Unusable(f"{' '.join(command)}: {answer.stderr.strip()}")
    return answer.stdout
