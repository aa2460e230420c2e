"""Compactor: forgets the history of a kv engine, some minutes behind the present, so that it does not grow for ever.

All servers on one store run one each, kube-apiservers included, and take turns through one key that holds the last
compacted revision: whoever puts it first in an interval compacts, to where the store was one interval ago; the
others see that they lost and wait for the next interval. One per kv engine. Knows no object.

    server A   put, compact to r0 ------- put, compact to r1 ------- put, ...
    server B          lost, learns r1' ------- lost ------- (A is gone) put, compact to r2'

Must hold: history is kept for at least one interval, and for at most three when the server that compacts goes away.
Nothing that goes wrong here ends the loop: the next interval is the next try.
"""

import logging

from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.errors import Compacted, StorageError
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.tasks import Tasks

logger = logging.getLogger(__name__)

INTERVAL = 300.0
"""kube-apiserver's default: long enough for slow watchers and lists in pages."""

KEY = b"compact_rev_key"
"""Shared with kube-apiserver."""


class Compactor:
    """Compacts one kv engine, every `interval` seconds; never, when that is 0."""

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
        """Begin; the first compaction comes after two intervals."""
        if self._interval:
            self._tasks.spawn(self._run(), name="compactor")

    async def compact(self) -> None:
        """Take one turn: compact to where the store was at the last one, unless somebody else has done so since."""
        last_seen = self._seen
        put = await self._kv.put(KEY, b"%d" % last_seen, expected_mod_revision=self._turn)
        self._turn = put.record.mod_revision if put.record is not None else 0
        self._seen = put.revision
        if not put.succeeded:
            self._counts["lost"] += 1
            return
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
            return  # somebody else, an administrator maybe, has gone further
        self._compacted = revision
        logger.info("compacted to revision %d", revision)
