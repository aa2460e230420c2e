"""space_keeping: SpaceKeeper, which compacts an embedded store before its time when past values take too much space.

Two things are too much: past values beyond their limit, and a store beyond its quota or on a full disk. Then all
history is compacted, again and again while clients delete objects, until the alarm ends.

Must hold: without a limit for history nothing is compacted here. Each begin and end of the alarm is logged once.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import Compacted, StorageError
from aio_apiserver.storage.kv.interface import Event
from aio_apiserver.storage.kv.past_values import PastValues
from aio_apiserver.storage.kv.quota import Quota
from aio_apiserver.storage.store_limits import StoreLimits

logger = logging.getLogger(__name__)

_PERIOD_SECONDS = 1.0
"""The pause between two compactions while the alarm is on."""


class SpaceKeeper:
    """The space of one engine. `compact` is the engine's, and `newest` returns its revision.

    regain: looks whether the disk has room again.
    """

    def __init__(
        self,
        quota: Quota,
        limits: StoreLimits,
        *,
        compact: Callable[[int], Awaitable[None]],
        newest: Callable[[], int],
        regain: Callable[[], Awaitable[None]] | None = None,
        clock: Clock,
        tasks: Tasks,
    ) -> None:
        self.past = PastValues(limits.history_bytes)
        self._quota = quota
        self._may_compact = limits.history_bytes > 0
        self._compact = compact
        self._newest = newest
        self._regain = regain
        self._clock = clock
        self._tasks = tasks
        self._is_busy = False
        self._compactions = 0

    def add(self, events: Iterable[Event]) -> None:
        """Count what a write supersedes."""
        self.past.add(events)

    def check(self) -> None:
        """Begin to make room, if there is too little. Called after each write, also after one that was refused."""
        if self._is_busy:
            return
        if self._quota.has_alarm:
            self._begin(self._relieve)
        elif self.past.excess():
            self._begin(self._trim)

    @property
    def warning(self) -> str:
        """What operators are told while the alarm is on; else empty."""
        if not self._quota.has_alarm:
            return ""
        if self._quota.disk_problem:
            return self._quota.disk_problem
        used, limit = self._quota.used_bytes >> 20, self._quota.limit >> 20
        return f"alarm:NOSPACE of the embedded store: {used} MiB are in use, --store-quota-bytes allows {limit} MiB"

    def statistics(self) -> Mapping[str, int]:
        return {
            "used_bytes": self._quota.used_bytes,
            "quota_bytes": self._quota.limit,
            "alarm": int(self._quota.has_alarm),
            "past_bytes": self.past.bytes,
            "early_compactions": self._compactions,
        }

    def _begin(self, work: Callable[[], Awaitable[None]]) -> None:
        self._is_busy = True
        self._tasks.spawn(self._finish(work), name="space of the store")

    async def _finish(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        finally:
            self._is_busy = False

    async def _trim(self) -> None:
        while target := self.past.excess():  # clients may have written meanwhile
            await self._compact_to(target)

    async def _relieve(self) -> None:
        logger.error("%s; until there is room, only deletions and what needs no space are written", self.warning)
        compacted = 0
        while self._quota.has_alarm:
            revision = self._newest()
            if self._may_compact and revision > compacted:
                compacted = revision
                await self._compact_to(revision)
            if self._regain is not None and self._quota.disk_problem:
                await self._try(self._regain)
            await self._clock.sleep(_PERIOD_SECONDS)
        logger.warning("the embedded store has room again: %d MiB are in use", self._quota.used_bytes >> 20)

    async def _try(self, regain: Callable[[], Awaitable[None]]) -> None:
        try:
            await regain()
        except StorageError as exc:
            logger.warning("the store could not make room: %s", exc)

    async def _compact_to(self, revision: int) -> None:
        try:
            await self._compact(revision)
        except Compacted:
            self.past.compact(revision)  # the compactor has come further
            return
        except StorageError as exc:
            logger.warning("history could not be compacted for more space: %s", exc)
            await self._clock.sleep(_PERIOD_SECONDS)
            return
        self._compactions += 1
        logger.info("compacted to revision %d before its time, for more space", revision)
