"""Pki: the certificates and keys of all test servers of a process, made once.

Each server has the files in its own temporary directory. Their content stays in memory, because making keys is the
slowest part of a start. Must hold: two threads that start servers at the same time use the same keys.
"""

import threading
from pathlib import Path

from aio_apiserver.apiserver.tls import files

_lock = threading.Lock()
_remembered: dict[str, bytes] = {}
_FORGOTTEN = ".lock"


def put(directory: Path) -> None:
    """Write the remembered files into a directory."""
    with _lock:
        for name, content in _remembered.items():
            files.put(directory / name, content)


def take(directory: Path) -> None:
    """Remember the files of a server. Files that are remembered already stay, because other servers use them."""
    with _lock:
        for path in directory.iterdir():
            if path.name != _FORGOTTEN:
                _remembered.setdefault(path.name, path.read_bytes())
