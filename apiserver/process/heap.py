"""Heap: gives freed memory back to the operating system while the server runs.

glibc keeps freed blocks that lie below blocks in use. After an attack or a burst, a server would keep its largest size.
The event loop takes a read buffer of 256 KiB for each TLS connection, and uses its first page. Such blocks lie outside
of the heap, so that they go back at once, and do not keep smaller blocks apart.

Must hold: a heap in which little was freed since its last trim is not trimmed. Without glibc 2.33, nothing is done.
"""

import asyncio
import ctypes
import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from aio_apiserver.base.clock import Clock

_PAUSE_SECONDS = 2.0
_FREED_BYTES = 8 * 1024 * 1024
"""A trim reads the whole heap, some ten milliseconds for 400 MB. So it needs a reason."""
_LARGE_BYTES = 192 * 1024
"""A block of this size lies outside of the heap. glibc's own bound would grow with the first such block."""
_MMAP_THRESHOLD = -3
"""glibc's M_MMAP_THRESHOLD."""
_STATM = Path("/proc/self/statm")


class _Mallinfo(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


class _Glibc(Struct, frozen=True):
    """What glibc tells of its heap, and how it gives memory back."""

    trim: Callable[[int], int]
    info: Callable[[], _Mallinfo]
    set_option: Callable[[int, int], int]

    @property
    def free_bytes(self) -> int:
        """The freed bytes that the heap keeps."""
        return int(self.info().fordblks)


async def keep_trimmed(clock: Clock) -> None:
    """Trim the heap whenever much of it was freed, until cancelled."""
    glibc = _glibc()
    if glibc is None:
        return
    glibc.set_option(_MMAP_THRESHOLD, _LARGE_BYTES)
    kept, least = glibc.free_bytes, resident()
    while True:
        await clock.sleep(_PAUSE_SECONDS)
        free = glibc.free_bytes
        has_grown = resident() - least > _FREED_BYTES < free  # given back, taken, and freed again
        if has_grown or free - kept > _FREED_BYTES:
            await asyncio.to_thread(glibc.trim, 0)
            kept, least = free, resident()  # what was freed meanwhile is trimmed the next time
        kept = min(kept, glibc.free_bytes)


def resident() -> int:
    """The resident bytes of this process."""
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _glibc() -> _Glibc | None:
    """glibc; None on other systems."""
    library = ctypes.CDLL(None)
    if not (hasattr(library, "malloc_trim") and hasattr(library, "mallinfo2")):
        return None
    library.mallinfo2.restype = _Mallinfo
    return _Glibc(library.malloc_trim, library.mallinfo2, library.mallopt)
