"""Ranked queue: a work queue whose keys leave by rank, as the active queue of kube-scheduler.

Must hold: of two waiting keys the one with the lower rank leaves first; of equal ranks the one that came first.
"""

import heapq
import itertools
from collections.abc import Callable

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.controllers.runtime.work_queue import WorkQueue


class RankedQueue(WorkQueue):
    """`rank`: the rank of a key at the time when it is added."""

    def __init__(self, clock: Clock, tasks: Tasks, rank: Callable[[str], int]) -> None:
        super().__init__(clock, tasks)
        self._rank = rank
        self._order = itertools.count()
        self._heap: list[tuple[int, int, str]] = []

    def wait(self, key: str) -> None:
        heapq.heappush(self._heap, (self._rank(key), next(self._order), key))

    def next(self) -> str:
        return heapq.heappop(self._heap)[2]
