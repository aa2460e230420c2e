"""Pki: the certificates and keys of all test servers of a process, made once.

Each server has the files in its own temporary directory. Their content stays in memory, because making keys is the
slowest part of a start. Must hold: two threads that start servers at the same time use the same keys.
"""

import threading
from pathlib import Path

from aio_apiserver.base import private_files

_lock = threading.Lock()
_remembered: dict[str, bytes] = {}


def put(directory: Path) -> None:
    """Write the remembered files into a directory."""
    with _lock:
        for name, content in _remembered.items():
            private_files.put(directory / name, content, is_durable=False)


def take(directory: Path) -> None:
    """Remember the files of a server. Files that are remembered already stay, because other servers use them."""
    with _lock:
        for path in directory.iterdir():
            if path.name != private_files.LOCK_NAME:
                _remembered.setdefault(path.name, path.read_bytes())
