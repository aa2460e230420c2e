"""Short collections: keeps full collections of Python's garbage collector short, however many objects are cached.

A full collection visits every container, some hundred milliseconds for the informers of 5,000 nodes. Here the objects
that survive one are exempt from the next ones (`gc.freeze`). Objects without cycles are freed as before.

Must hold: cycles among exempt objects are found later: when the number of exempt objects has doubled, the next full
collection visits all of them.
"""

import gc
from typing import Any

_COUNT_EVERY = 8
"""Counting the exempt objects visits them; so they are not counted each time."""


class ShortCollections:
    """The exemptions of this process."""

    def __init__(self) -> None:
        self._full = 0
        self._visited = gc.get_freeze_count()
        """The exempt objects after the last collection that visited all of them."""
        self._is_thorough = False
        gc.callbacks.append(self._collected)

    def end(self) -> None:
        """Exempt no more objects."""
        gc.callbacks.remove(self._collected)

    def _collected(self, phase: str, info: dict[str, Any]) -> None:
        """Python calls this at the beginning and at the end of each collection."""
        if phase != "stop" or info["generation"] != 2:
            return
        gc.freeze()
        self._full += 1
        if self._is_thorough:
            self._is_thorough = False
            self._visited = gc.get_freeze_count()
        elif self._full % _COUNT_EVERY == 0 and gc.get_freeze_count() > 2 * self._visited:
            self._is_thorough = True
            gc.unfreeze()
