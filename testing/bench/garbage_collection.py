"""Garbage collection: turns Python's garbage collector off while a server starts or restores a snapshot.

Both create many objects, which makes the collector search all objects of the process. In a big test suite that takes
longer than the work itself. Must hold: a collector that was off before stays off. Several threads may do this at the
same time.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_holders = 0
_was_enabled = False


@contextmanager
def held_off() -> Iterator[None]:
    """The garbage collector is off while the context is open."""
    _hold()
    try:
        yield
    finally:
        _release()


def _hold() -> None:
    global _holders, _was_enabled
    with _lock:
        if not _holders:
            _was_enabled = gc.isenabled()
            gc.disable()
        _holders += 1


def _release() -> None:
    global _holders
    with _lock:
        _holders -= 1
        if not _holders and _was_enabled:
            gc.enable()
