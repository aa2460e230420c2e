"""Slots: the places of the workers of one server, as the supervisor hands them to its processes.

The supervisor imports it, so its imports must stay few.
"""

import select
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import NamedTuple, Self

import orjson

from aio_apiserver.apiserver.workers import heartbeats

CANNOT_START = 3
"""The exit code of a worker that could not start. Another worker in its place would fail as well."""
NO_SOCKET = -1


class Plan(NamedTuple):
    """What the supervisor has to know of the settings.

    ports: address and port of each listener, the secure one first. has_volatile_store: the store ends with the process
    that owns it. look_seconds: the time between two looks at the heartbeats of workers.
    """

    workers: int
    ports: Sequence[tuple[str, int]]
    has_volatile_store: bool
    log_format: str
    verbosity: int
    vmodule: Sequence[str] = ()
    look_seconds: float = heartbeats.LOOK_SECONDS

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(**orjson.loads(text))

    def dump(self) -> str:
        return orjson.dumps(self._asdict()).decode()


class WorkerSlot(NamedTuple):
    """The place of one worker. number: from 0.

    folder: a private folder with the sockets between the processes. secure and insecure: the descriptors of bound
    sockets. lifeline: the end of a pipe that is readable when the supervisor has ended. beat_seconds: the time between
    two heartbeats.
    """

    number: int
    workers: int
    folder: str
    secure: int
    insecure: int
    lifeline: int
    beat_seconds: float

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(*orjson.loads(text))

    def dump(self) -> str:
        return orjson.dumps(tuple(self)).decode()

    @property
    def is_first(self) -> bool:
        """Whether the worker does what one worker has to do for all."""
        return self.number == 0

    @property
    def is_orphan(self) -> bool:
        """Whether the supervisor has ended."""
        return bool(select.select([self.lifeline], [], [], 0)[0])

    @property
    def heartbeat(self) -> Path:
        """The file that the worker touches while its event loop runs."""
        return heartbeats.file_of(self.folder, self.number)

    @property
    def store(self) -> Path:
        """The socket of the process that owns an embedded store."""
        return Path(self.folder) / "store.sock"

    @property
    def log_lock(self) -> Path:
        """The file that a worker locks while it writes a line to the log that all workers share."""
        return Path(self.folder) / "log.lock"

    def socket_of(self, number: int) -> Path:
        """The socket on which a worker answers its siblings."""
        return Path(self.folder) / f"{number}.sock"

    def share(self, limit: int) -> int:
        """The part of a limit of the server that is this worker's; 0 stays no limit."""
        return ceil(limit / self.workers)
