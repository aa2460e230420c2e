"""Collection: holds off the search for garbage while a server starts or goes back to a state.

Both make many objects at once, at which Python looks through all that there is: in the process of a big test suite that
takes longer than the work itself. Must hold: who has switched collection off finds it switched off afterwards; several
threads may do this at the same time.
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
    """No garbage is looked for while the context is open."""
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
