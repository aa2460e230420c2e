"""Short collections: keeps collections of Python's garbage collector few, and full ones short, however many objects are
cached.

A young collection begins after 5,000 new containers: requests on their way have some hundred each, and most of them end
before it. With Python's 700, creates spend 3 % of their time in collections.

A full collection visits every container, some hundred milliseconds for the informers of 5,000 nodes. Here the objects
that survive one are exempt from the next ones (`gc.freeze`). Objects without cycles are freed as before.

Must hold: cycles among exempt objects are found later: when the number of exempt objects has doubled, the next full
collection visits all of them. With many objects that takes up to a second, and happens once in ten minutes at most.
"""

import gc
from typing import Any

from aio_apiserver.base.clock import Clock, SystemClock

_THRESHOLDS = 5_000, 3, 3
"""New containers before a young collection, young collections before a middle one, and those before a full one. A full
one has as many new containers to visit as with Python's own thresholds.
"""
_COUNT_EVERY = 8
"""Counting the exempt objects visits them; so they are not counted each time."""
_MANY = 500_000
_SECONDS_BETWEEN = 600.0
"""The time between two collections that visit so many objects."""


class ShortCollections:
    """The exemptions of this process. `many`: the number of objects to visit once in ten minutes at most."""

    def __init__(self, clock: Clock | None = None, many: int = _MANY) -> None:
        self._clock = clock or SystemClock()
        self._many = many
        self._full = 0
        self._visited_at = self._clock.monotonic()
        self._visited = gc.get_freeze_count()
        """The exempt objects after the last collection that visited all of them."""
        self._is_thorough = False
        self._usual = gc.get_threshold()
        gc.set_threshold(*_THRESHOLDS)
        gc.callbacks.append(self._collected)

    def end(self) -> None:
        """Exempt no more objects, and collect as often as before."""
        gc.callbacks.remove(self._collected)
        gc.set_threshold(*self._usual)

    def _collected(self, phase: str, info: dict[str, Any]) -> None:
        """Python calls this at the beginning and at the end of each collection."""
        if phase != "stop" or info["generation"] != 2:
            return
        gc.freeze()
        self._full += 1
        if self._is_thorough:
            self._is_thorough = False
            self._visited, self._visited_at = gc.get_freeze_count(), self._clock.monotonic()
        elif self._full % _COUNT_EVERY == 0 and self._has_doubled():
            self._is_thorough = True
            gc.unfreeze()

    def _has_doubled(self) -> bool:
        number = gc.get_freeze_count()
        has_rested = self._clock.monotonic() - self._visited_at >= _SECONDS_BETWEEN
        return number > 2 * self._visited and (number < self._many or has_rested)
