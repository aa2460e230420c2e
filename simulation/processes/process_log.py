"""process_log: what one process has written, with times, in a file that readers can follow.

A line of the file is the time, the channel, `F` for a whole line or `P` for a part of one, and the text. Must hold: the
file has a limit, at which it begins anew, as kubelets rotate the logs of containers.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path

from msgspec import Struct

from aio_apiserver.base.clock import Clock

_MOST_BYTES = 10 * 1024 * 1024
_BYTES_A_SECOND = 4 * 1024 * 1024
"""A program that writes more waits, so that the server has time for its clients."""
_PIECE = 256 * 1024


class LogPiece(Struct, frozen=True):
    """Some output: a line, or a part of one."""

    time: float
    channel: int
    data: bytes


class ProcessLog:
    """The log of one run of a container."""

    def __init__(self, path: Path, clock: Clock) -> None:
        """Raises OSError."""
        self._clock = clock
        self._path = path
        self._file = FileIO(path, "a+")
        self._size = 0
        self._turn = 0
        """The number of times that the file has begun anew."""
        self._has_ended = False
        self._changed = asyncio.Event()

    async def write(self, channel: int, data: bytes) -> None:
        """Add output of a process."""
        time = self._clock.now()
        text = b"".join(_encoded(time, channel, data))
        if self._size + len(text) > _MOST_BYTES:
            self._file.truncate(0)
            self._size, self._turn = 0, self._turn + 1
        with suppress(OSError):  # a full disk: the output is lost
            self._size += self._file.write(text) or 0
        self._notify()
        await self._clock.patience.sleep(len(data) / _BYTES_A_SECOND)

    def end(self) -> None:
        """The process has ended: readers wait for no more."""
        self._has_ended = True
        self._notify()

    def remove(self) -> None:
        """Remove the file. Readers end."""
        self.end()
        self._file.close()
        self._path.unlink(missing_ok=True)

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def pieces(self, *, follows: bool, from_end: bool = False) -> AsyncIterator[LogPiece]:
        """The output so far. follows: and what comes later. from_end: without what is there."""
        position, turn = self._size if from_end else 0, self._turn
        while not self._file.closed:
            if turn != self._turn:
                position, turn = 0, self._turn
            changed, has_ended = self._changed, self._has_ended
            data = os.pread(self._file.fileno(), _PIECE, position)
            data = data[: data.rfind(b"\n") + 1]
            position += len(data)
            for one in _decoded(data):
                yield one
            if data:
                await asyncio.sleep(0)
            elif has_ended or not follows:
                return
            else:
                await changed.wait()


def _encoded(time: float, channel: int, data: bytes) -> Iterator[bytes]:
    *lines, rest = data.split(b"\n")
    for line in lines:
        yield b"%.6f %d F %s\n" % (time, channel, line)
    if rest:
        yield b"%.6f %d P %s\n" % (time, channel, rest)


def _decoded(data: bytes) -> Iterator[LogPiece]:
    for line in data.split(b"\n")[:-1]:
        time, channel, kind, text = line.split(b" ", 3)
        yield LogPiece(float(time), int(channel), text + b"\n" if kind == b"F" else text)
