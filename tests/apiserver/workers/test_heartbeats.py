"""The heartbeats of workers, as the supervisor sees them."""

import os
from pathlib import Path

from aio_apiserver.apiserver.workers.heartbeats import MOST_LOOKS, Heartbeats

PID = 7


def looks(heartbeats: Heartbeats, path: Path, count: int) -> list[bool]:
    return [heartbeats.is_silent(PID, path) for _ in range(count)]


def test_a_worker_is_silent_after_so_many_looks_without_a_heartbeat(tmp_path: Path) -> None:
    heartbeats, path = Heartbeats(), tmp_path / "0.beat"
    path.touch()

    assert looks(heartbeats, path, MOST_LOOKS + 1) == [False] * MOST_LOOKS + [True]


def test_a_heartbeat_begins_the_count_anew(tmp_path: Path) -> None:
    heartbeats, path = Heartbeats(), tmp_path / "0.beat"
    path.touch()
    looks(heartbeats, path, MOST_LOOKS)

    os.utime(path, (1, 1))

    assert looks(heartbeats, path, MOST_LOOKS) == [False] * MOST_LOOKS


def test_a_worker_that_has_not_begun_is_not_silent(tmp_path: Path) -> None:
    assert not any(looks(Heartbeats(), tmp_path / "0.beat", 3 * MOST_LOOKS))
