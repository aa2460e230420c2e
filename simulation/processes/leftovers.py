"""Leftovers: ends the processes that a server has left behind, also after a SIGKILL, and removes their files.

The server starts this file as a program, and holds its standard input open. It works when that input ends. Processes
are known by a variable of their environment, so that daemons are found as well. It needs /proc, as Linux has it.
"""

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

VARIABLE = "AIO_APISERVER_CONTAINERS"
"""Has the directory of the server's containers."""
_PROCESSES = Path("/proc")
_MOST_ROUNDS = 20


def remove(directory: str) -> None:
    """End the processes of a directory, also those that they start meanwhile. Then remove it."""
    mark = f"{VARIABLE}={directory}".encode()
    for _ in range(_MOST_ROUNDS):
        found = list(_marked(mark))
        for number in found:
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
        if not found:
            break
    shutil.rmtree(directory, ignore_errors=True)


def _marked(mark: bytes) -> Iterator[int]:
    """The processes with a variable, but for those that have ended."""
    for one in _PROCESSES.iterdir() if _PROCESSES.is_dir() else ():
        if one.name.isdigit():
            with suppress(OSError):
                if mark in (one / "environ").read_bytes().split(b"\0"):
                    yield int(one.name)


if __name__ == "__main__":
    sys.stdin.buffer.read()
    remove(sys.argv[1])
