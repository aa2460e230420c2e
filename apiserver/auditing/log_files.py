"""Log files: appends lines to a file, and rotates the file when it is full.

    audit.log   audit-2026-11-18T17-12-22.123.log   audit-2026-11-17T03-00-00.000.log.gz

Must hold: files have mode 0600. A line is in one file, whole, or it is in none: a full disk leaves no part of a line.
Old files are removed and compressed in the background, one after the other, from the first line on.
"""

import asyncio
import fcntl
import gzip
import logging
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from aio_apiserver.base import private_files
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks

logger = logging.getLogger(__name__)

_DIRECTORY_MODE = 0o700
_COMPRESSED = ".gz"
_TIME = "%Y-%m-%dT%H-%M-%S.%f"


class Output(Protocol):
    """The destination of lines."""

    def write(self, line: bytes) -> None:
        """Write a line. Raises OSError."""
        ...

    async def close(self) -> None: ...


class StandardOutput:
    """The standard output of the process."""

    def write(self, line: bytes) -> None:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    async def close(self) -> None:
        """Standard output stays open."""


class Rotation(Struct, frozen=True, kw_only=True):
    """When a file is rotated, and which old files are kept. 0 is no limit."""

    most_bytes: int = 0
    most_days: int = 0
    most_files: int = 0
    compresses: bool = False


class LogFile:
    """A file that one process appends to. It is opened at once. Raises OSError."""

    def __init__(self, path: Path, rotation: Rotation, clock: Clock) -> None:
        self._path = path
        self._rotation = rotation
        self._clock = clock
        self._tasks = Tasks()
        self._tidying: asyncio.Task[None] | None = None
        self._is_tidied = bool(rotation.most_days or rotation.most_files or rotation.compresses)
        self._is_untidy = self._is_tidied
        path.parent.mkdir(parents=True, exist_ok=True, mode=_DIRECTORY_MODE)
        self._descriptor, self._size = self._open()

    def write(self, line: bytes) -> None:
        most = self._rotation.most_bytes
        if most and len(line) > most:
            raise OSError(f"write length {len(line)} exceeds maximum file size {most}")
        if most and self._size + len(line) > most:
            self._rotate()
        if self._is_untidy and (self._tidying is None or self._tidying.done()):
            self._tidying, self._is_untidy = self._tasks.spawn(self._tidy(), name="old audit logs"), False
        self._append(line)

    async def close(self) -> None:
        """Wait for the present clean-up of old files, and close the file."""
        if self._tidying is not None:
            await asyncio.wait({self._tidying})
        await self._tasks.close()
        os.close(self._descriptor)

    def _open(self) -> tuple[int, int]:
        descriptor = private_files.open_to_append(self._path)
        return descriptor, os.fstat(descriptor).st_size

    def _append(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            if len(rest) < len(line):
                os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(line)

    def _rotate(self) -> None:
        with suppress(FileNotFoundError):  # logrotate may have moved it
            self._path.rename(self._old_name())
        descriptor, size = self._open()
        os.close(self._descriptor)
        self._descriptor, self._size = descriptor, size
        self._is_untidy = self._is_tidied

    def _old_name(self) -> Path:
        """A name that no file has."""
        moment = datetime.fromtimestamp(self._clock.now(), UTC)
        while (path := self._path.with_name(f"{self._path.stem}-{_timestamp(moment)}{self._path.suffix}")).exists():
            moment += timedelta(milliseconds=1)
        return path

    async def _tidy(self) -> None:
        try:
            await asyncio.to_thread(tidy, self._path, self._rotation, self._clock.now())
        except OSError as exc:
            logger.error("cannot remove or compress old files of %s: %s", self._path, exc)


class SharedLogFile(LogFile):
    """A file that several processes append to. A process locks the directory while it writes a line or rotates."""

    def __init__(self, path: Path, rotation: Rotation, clock: Clock) -> None:
        super().__init__(path, rotation, clock)
        self._directory = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)

    def write(self, line: bytes) -> None:
        fcntl.flock(self._directory, fcntl.LOCK_EX)
        try:
            self._follow()
            super().write(line)
        finally:
            fcntl.flock(self._directory, fcntl.LOCK_UN)

    async def close(self) -> None:
        await super().close()
        os.close(self._directory)

    def _follow(self) -> None:
        """Use the present file. Another process may have written to it, or rotated it."""
        mine = os.fstat(self._descriptor)
        with suppress(FileNotFoundError):
            if os.path.samestat(self._path.stat(), mine):
                self._size = mine.st_size
                return
        os.close(self._descriptor)
        self._descriptor, self._size = self._open()


def _timestamp(moment: datetime) -> str:
    return moment.strftime(_TIME)[:-3]


def tidy(path: Path, rotation: Rotation, now: float) -> None:
    """Remove old files of a log that are too many or too old, and compress the others. Raises OSError."""
    oldest = now - rotation.most_days * 86400 if rotation.most_days else 0.0
    for number, (moment, old) in enumerate(sorted(_old_files(path), reverse=True)):
        if (rotation.most_files and number >= rotation.most_files) or moment < oldest:
            old.unlink(missing_ok=True)
        elif rotation.compresses and old.suffix != _COMPRESSED:
            with suppress(FileNotFoundError):  # another process has done it
                _compress(old)


def _old_files(path: Path) -> Iterator[tuple[float, Path]]:
    """The rotated files of the log, with the times of their rotation."""
    prefix = f"{path.stem}-"
    for other in path.parent.iterdir():
        name = other.name.removesuffix(_COMPRESSED)
        if not name.startswith(prefix) or not name.endswith(path.suffix):
            continue
        text = name.removeprefix(prefix).removesuffix(path.suffix)
        with suppress(ValueError):
            yield datetime.strptime(text, _TIME).replace(tzinfo=UTC).timestamp(), other


def _compress(old: Path) -> None:
    whole = old.with_name(old.name + _COMPRESSED)
    with private_files.replacing(whole) as file, gzip.open(file, "wb") as packed, old.open("rb") as source:
        shutil.copyfileobj(source, packed)
    old.unlink(missing_ok=True)
