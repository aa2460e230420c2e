"""Bands: the front part of a range is for those who choose their address or port, as long as there is room behind it.

Pure. Must hold: the search covers each place once, the band behind first, each from a random place on.
"""

import random
from collections.abc import Iterator


def band_size(size: int, *, least: int, most: int, step: int) -> int:
    """How much of a range is left to those who choose: one part in `step`, within limits; nothing of a small range."""
    return 0 if size <= least else min(max(least, size // step), most)


def search_order(size: int, band: int) -> Iterator[int]:
    """The places of a range in the order in which a free one is looked for."""
    yield from _turned(band, size)
    yield from _turned(0, band)


def _turned(first: int, end: int) -> Iterator[int]:
    if first >= end:
        return
    start = random.randrange(first, end)  # noqa: S311 - spreads, hides nothing
    yield from range(start, end)
    yield from range(first, start)
