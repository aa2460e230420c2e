"""Pki: the certificates and keys of all test servers of a process, made once.

Servers want files, in a directory of their own that goes with them. Their content stays in memory: making keys takes
longer than everything else in the start of a server. Must hold: two threads that begin servers at once agree.
"""

import threading
from pathlib import Path

from aio_apiserver.apiserver.tls import files

_lock = threading.Lock()
_remembered: dict[str, bytes] = {}
_FORGOTTEN = ".lock"


def put(directory: Path) -> None:
    """Give a directory what other servers of the process had."""
    with _lock:
        for name, content in _remembered.items():
            files.put(directory / name, content)


def take(directory: Path) -> None:
    """Remember what a server has made. What is there already stays: others have it in use."""
    with _lock:
        for path in directory.iterdir():
            if path.name != _FORGOTTEN:
                _remembered.setdefault(path.name, path.read_bytes())
