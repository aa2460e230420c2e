"""Cache lag: how far the watch cache is behind the store, in revisions and in seconds.

The cache is behind the revisions that this server has written, or has read past the cache. Their events are on the way:

    written 101 at 7.0 s, 105 at 7.2 s; the cache comes to 101 at 7.3 s: at 7.4 s it is 4 revisions and 0.2 s behind

Must hold: a lasting lag is logged once, and once more when it is over. Noting a revision takes a microsecond.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Mapping

from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.cacher.watermark import Watermark

logger = logging.getLogger(__name__)

LASTING_SECONDS = 2.0
_GRAIN_SECONDS = 0.01
"""Revisions seen within this time count as seen together, so that a long lag takes little memory."""


class Lag:
    """The lag of the cache with the revision `mark`. `name` is the resource in log lines."""

    def __init__(self, mark: Watermark, clock: Clock, name: str) -> None:
        self.seen = 0
        """The newest revision of the resource that this server has written, or read past the cache."""
        self._mark = mark
        self._clock = clock
        self._name = name
        self._awaited: deque[tuple[int, float]] = deque()
        self._is_lasting = False

    @property
    def revisions(self) -> int:
        """The distance between the cache's revision and the newest one seen."""
        return max(self.seen - self._mark.revision, 0) if self._mark.revision else 0

    @property
    def seconds(self) -> float:
        """The time since the oldest revision was seen that the cache does not have."""
        awaited = self._awaited
        while awaited and awaited[0][0] <= self._mark.revision:
            awaited.popleft()
        return self._clock.monotonic() - awaited[0][1] if awaited else 0.0

    def see(self, revision: int) -> None:
        """Note a revision of the resource in the store."""
        if revision <= self.seen:
            return
        self.seen = revision
        if not 0 < self._mark.revision < revision:
            return
        lag, now = self.seconds if self._awaited else 0.0, self._clock.monotonic()
        if not self._awaited or now - self._awaited[-1][1] >= _GRAIN_SECONDS:
            self._awaited.append((revision, now))
        if lag >= LASTING_SECONDS and not self._is_lasting:
            self._is_lasting = True
            logger.warning("the cache of %s is %.1f s behind the store, %d revisions", self._name, lag, self.revisions)
            self._look_again()

    def statistics(self) -> Mapping[str, float]:
        return {"revisions": self.revisions, "seconds": self.seconds}

    def _look_again(self) -> None:
        """Check the lag again when the cache has reached the newest revision seen by now."""
        self._mark.expect(self.seen).add_done_callback(self._arrived)

    def _arrived(self, arrival: asyncio.Future[bool]) -> None:
        if arrival.exception() is not None:
            return  # the cache was closed
        if self.seconds >= LASTING_SECONDS:
            self._look_again()
            return
        self._is_lasting = False
        logger.warning("the cache of %s keeps up with the store again", self._name)
