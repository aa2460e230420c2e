"""Row templates: the JSON of a table's row without ages and other durations.

A row is made once for a stored object, with `ages.LATER` as the time. Each request fills the durations in. Pure. Must
hold: at any time, the filled template equals a row that is made at that time.
"""

from collections.abc import Sequence
from functools import lru_cache

import orjson

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.machinery.printing import ages


class RowTemplate:
    """The parts of a row's JSON, and the start times of the durations between them."""

    __slots__ = ("_moments", "_parts")

    def __init__(self, parts: Sequence[bytes], moments: Sequence[float]) -> None:
        self._parts = parts
        self._moments = moments

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def at(self, now: float) -> bytes:
        """The row at a time."""
        parts = self._parts
        shown = parts[0]
        for place, moment in enumerate(self._moments, 1):
            shown += _duration(int(now - moment)) + parts[place]
        return shown


def of(row: Object) -> RowTemplate:
    """The template of a row that was made with `ages.LATER`."""
    return RowTemplate(*ages.marked(orjson.dumps(row)))


@lru_cache(maxsize=4096)
def _duration(seconds: int) -> bytes:
    return ages.duration(seconds).encode()
