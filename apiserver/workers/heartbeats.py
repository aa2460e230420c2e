"""Heartbeats: how the supervisor sees that the event loop of a worker runs.

A worker touches a file of its own again and again; a worker that hangs does not. The supervisor imports this module, so
its imports must stay few.

Must hold: a worker is watched from its first heartbeat on. The supervisor counts looks and no time, so it replaces no
worker because the machine was suspended.
"""

from pathlib import Path

LOOK_SECONDS = 5.0
MOST_LOOKS = 6
"""The looks without a new heartbeat after which a worker hangs."""
BEATS_A_LOOK = 5


def file_of(folder: str, number: int) -> Path:
    """The file that a worker touches."""
    return Path(folder) / f"{number}.beat"


class Heartbeats:
    """The heartbeats of the present workers, by process id."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, int]] = {}
        """The time of the newest heartbeat, and the looks since that found no newer one."""

    def is_silent(self, pid: int, path: Path) -> bool:
        """Look for a new heartbeat. Returns whether there was none for too long."""
        try:
            newest = path.stat().st_mtime_ns
        except FileNotFoundError:
            return False
        known, looks = self._seen.get(pid, (0, 0))
        looks = looks + 1 if newest == known else 0
        self._seen[pid] = newest, looks
        return looks >= MOST_LOOKS

    def forget(self, pid: int) -> None:
        """The worker has ended."""
        self._seen.pop(pid, None)
