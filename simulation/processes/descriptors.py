"""Descriptors: pipes and terminals of local processes, read and written without blocking the event loop.

Must hold: when the process has ended, what it has written is read to its end, although other processes may still hold
the other side.
"""

import asyncio
import os
from collections.abc import Callable
from io import FileIO
from typing import Protocol

_PIECE = 64 * 1024
_MOST_AFTER_END = 1024 * 1024
"""No pipe holds more, as Linux is set by default. A process of another session may write on for ever."""


class OutputReceiver(Protocol):
    """The receiver of what processes write, on channels such as standard output."""

    async def write(self, channel: int, data: bytes) -> None:
        """Take some bytes of a channel."""
        ...


class InputSource(Protocol):
    """The sender of what a process reads."""

    async def read(self) -> bytes:
        """The next bytes; empty at the end."""
        ...


class Descriptor:
    """This server's side of a pipe or terminal."""

    def __init__(self, file: FileIO) -> None:
        os.set_blocking(file.fileno(), False)
        self.number = file.fileno()
        self.close = file.close
        self._is_last = False
        self._ready = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def finish(self) -> None:
        """The process has ended: read what is there, and wait for no more."""
        self._is_last = True
        self._ready.set()

    async def forward(self, channel: int, output: OutputReceiver) -> None:
        """Send what the process writes."""
        left = _MOST_AFTER_END
        while left > 0 and (data := await self._read()):
            left -= len(data) if self._is_last else 0
            await output.write(channel, data)

    async def feed(self, source: InputSource) -> None:
        """Write what the client sends. Returns at its end, or when the process reads no more."""
        while data := await source.read():
            while data:
                try:
                    data = data[os.write(self.number, data) :]
                except BlockingIOError:
                    await self._wait(self._loop.add_writer, self._loop.remove_writer, asyncio.Event())
                except OSError:
                    return

    async def _read(self) -> bytes:
        """The next bytes; empty at the end."""
        while True:
            try:
                return os.read(self.number, _PIECE)
            except BlockingIOError:
                if self._is_last:
                    return b""
            except OSError:
                return b""  # Linux: no process has the terminal any more
            self._ready.clear()
            await self._wait(self._loop.add_reader, self._loop.remove_reader, self._ready)

    async def _wait(self, add: Callable[..., None], remove: Callable[[int], bool], ready: asyncio.Event) -> None:
        add(self.number, ready.set)
        try:
            await ready.wait()
        finally:
            remove(self.number)
