"""Sessions: ends the processes of a session of the operating system.

A process that begins a session of its own (setsid) has left, and runs on.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROCESSES = Path("/proc")
_MOST_ROUNDS = 10
_GONE = (ProcessLookupError, PermissionError)


def kill(session: int) -> None:
    """Kill all processes of a session, also those that they start meanwhile. Without /proc: its first group.

    The number must not be free for other processes: call it once, as soon as its first process has ended.
    """
    with suppress(*_GONE):
        os.killpg(session, signal.SIGKILL)
    known: set[int] = set()
    for _ in range(_MOST_ROUNDS):
        new = set(_members(session)) - known
        if not new:
            return
        for number in new:
            with suppress(*_GONE):
                os.kill(number, signal.SIGKILL)
        known |= new


def _members(session: int) -> Iterator[int]:
    """The processes of a session."""
    found = _PROCESSES.iterdir() if _PROCESSES.is_dir() else ()
    for number in (int(one.name) for one in found if one.name.isdigit()):
        with suppress(*_GONE):
            if os.getsid(number) == session:
                yield number
