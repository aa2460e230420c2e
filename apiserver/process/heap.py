"""Heap: gives freed memory back to the operating system while the server runs.

glibc keeps freed blocks that lie below blocks in use. After an attack or a burst, a server would keep its largest size.

Must hold: a trim that has released little is followed by a longer pause. A server that has not grown since its start is
not trimmed. Without glibc, nothing is done.
"""

import asyncio
import ctypes
import os
from collections.abc import Callable
from pathlib import Path

from aio_apiserver.storage.clock import Clock

_SHORTEST_PAUSE, _LONGEST_PAUSE = 2.0, 64.0
_GROWTH_BYTES = 16 * 1024 * 1024
"""A trim reads the whole heap, some ten milliseconds for 400 MB. So it needs a reason."""
_STATM = Path("/proc/self/statm")


async def keep_trimmed(clock: Clock) -> None:
    """Trim the heap of a server that has grown, until cancelled."""
    trim = _trim()
    if trim is None:
        return
    first, pause = resident(), _SHORTEST_PAUSE
    while True:
        await clock.sleep(pause)
        before = resident()
        if before - first > _GROWTH_BYTES:
            await asyncio.to_thread(trim, 0)
            has_helped = before - resident() > _GROWTH_BYTES // 4
            pause = _SHORTEST_PAUSE if has_helped else min(2 * pause, _LONGEST_PAUSE)


def resident() -> int:
    """The resident bytes of this process."""
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _trim() -> Callable[[int], int] | None:
    """glibc's function; None on other systems."""
    if not _STATM.exists():
        return None
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim
