"""Bands: the lower part of a range, which dynamic allocation leaves free for static requests as long as it can.

Pure. Must hold: the search visits each position once. It takes the upper band first, and begins in each band at a
random position.
"""

from collections.abc import Iterator

from aio_apiserver.base.jitter import chance


def band_size(size: int, *, least: int, most: int, step: int) -> int:
    """The size of the lower band: one part in `step` of the range, within the limits, and 0 for a small range."""
    return 0 if size <= least else min(max(least, size // step), most)


def search_order(size: int, band: int) -> Iterator[int]:
    """All positions of a range, in the order in which dynamic allocation tries them."""
    yield from _turned(band, size)
    yield from _turned(0, band)


def _turned(first: int, end: int) -> Iterator[int]:
    if first >= end:
        return
    start = chance.randrange(first, end)
    yield from range(start, end)
    yield from range(first, start)
