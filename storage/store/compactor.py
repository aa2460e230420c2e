"""Compactor: etcd's compaction of old revisions, some minutes behind the present, as in kube-apiserver.

All servers on one store run one, kube-apiservers included. They share one key that holds the last compacted revision.
The server that first updates the key in an interval compacts to the revision of one interval ago. The others see that
they lost and wait for the next interval.

    server A   put, compact to r0 ------- put, compact to r1 ------- put, ...
    server B        lost, learns r1' ------- lost ------- (A is gone) put, compact to r2'

One per kv engine. It knows no object.

Must hold: history is kept for at least one interval, and for at most three when the compacting server stops. An error
does not end the loop; the next interval is the next attempt.
"""

import logging

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.errors import Compacted, StorageError
from aio_apiserver.storage.kv.interface import KV

logger = logging.getLogger(__name__)

INTERVAL = 300.0
"""kube-apiserver's default: long enough for slow watchers and for lists in pages."""

KEY = b"compact_rev_key"
"""The key that kube-apiserver uses, too."""


class HistoryCompactor:
    """Compacts one kv engine every `interval` seconds; an interval of 0 switches it off."""

    def __init__(self, kv: KV, *, clock: Clock, interval: float = INTERVAL) -> None:
        self._kv = kv
        self._clock = clock
        self._interval = interval
        self._tasks = Tasks()
        self._turn = 0
        self._seen = 0
        self._compacted = 0
        self._counts = {"won": 0, "lost": 0, "failed": 0}

    def start(self) -> None:
        """Start the loop. The first compaction comes after two intervals."""
        if self._interval:
            self._tasks.spawn(self._run(), name="compactor")

    async def compact(self) -> None:
        """Compact to the revision of the last attempt, unless another server has compacted since."""
        last_seen = self._seen
        put = await self._kv.put(KEY, b"%d" % last_seen, expected_mod_revision=self._turn)
        self._seen = put.revision
        if not put.succeeded:
            self._turn = put.record.mod_revision if put.record is not None else 0
            self._counts["lost"] += 1
            return
        self._turn = put.revision
        self._counts["won"] += 1
        if last_seen:
            await self._compact_to(last_seen)

    def statistics(self) -> dict[str, int]:
        return {**self._counts, "compacted_revision": self._compacted}

    async def close(self) -> None:
        await self._tasks.close()

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(self._interval)
            try:
                await self.compact()
            except StorageError as exc:
                self._counts["failed"] += 1
                logger.warning("compaction failed, next try in %.0f s: %s", self._interval, exc)

    async def _compact_to(self, revision: int) -> None:
        try:
            await self._kv.compact(revision)
        except Compacted:
            return  # another server or an administrator has compacted further
        self._compacted = revision
        logger.info("compacted to revision %d", revision)
