"""Older history: lets the window of changes begin before the cache's first list, where the store still has the changes.

The cache of a server that has just started begins with its first list. The clients of another replica, or of the server
before its restart, resume at older resource versions. For them the cache reads the changes before its list:

    list at 90; a watch from 70: the store tells the changes after 70 up to 90, and the window begins at 70

Changes that have left the window are not read again: those watches have expired, as in kube-apiserver.

Must hold: the window has no gap. Reads of history are one at a time in a process, and bounded in time and size.
"""

import asyncio
import logging
from collections import Counter

from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.cacher.watch_cache import WatchCache
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.errors import Compacted, RevisionExpired, StorageError
from aio_apiserver.storage.interface import Origin

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 3.0


class OlderHistory:
    """Extends the window of one cache. `turn`: held by the one cache of the process that reads history."""

    def __init__(self, origin: Origin, cache: WatchCache, turn: asyncio.Lock, clock: Clock) -> None:
        self._origin = origin
        self._window = cache.window
        self._clock = clock
        self._turn = turn
        self._wanted: Counter[int] = Counter()
        self._lost = 0
        """The newest revision whose later changes the store has not kept, or has too many of."""

    async def reach(self, revision: int) -> None:
        """Let the window begin at `revision`, if it can: the window itself refuses watches from before it."""
        if not self._can_help(revision):
            return
        self._wanted[revision] += 1
        try:
            async with self._turn:
                while self._can_help(revision):
                    if not await self._extend(min(filter(self._can_help, self._wanted))):
                        return
        finally:
            self._wanted[revision] -= 1
            self._wanted += Counter()  # without the revisions that no watch wants

    def _can_help(self, revision: int) -> bool:
        begin = self._window.first_list
        return begin is not None and self._lost < revision < begin and self._origin.has_reliable_progress

    async def _extend(self, after: int) -> bool:
        """Read the changes after a revision. Returns whether another attempt makes sense."""
        begin = self._window.first_list
        assert begin is not None
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                found = await self._origin.past_changes(after, begin)
        except Compacted as exc:
            self._lost = max(after, exc.compact_revision - 1)
            return True
        except RevisionExpired:
            self._lost = max(after, (after + begin) // 2)  # few attempts find how much the window can take
            return True
        except (StorageError, TimeoutError) as exc:
            logger.info("the changes after revision %d could not be read: %s", after, exc)
            return False
        if self._window.first_list == begin:
            now = self._clock.monotonic()
            changes = [
                Change(one.key, one.previous, current=one.current, revision=one.revision, at=now) for one in found
            ]
            self._window.extend_back(changes, after)
        return True
