"""Revision page: RevisionPage, the newest revision of the store in memory that the owner and the workers share.

A worker reads it for each consistent read, which needs no call to the owner then.

Must hold: the owner raises the number before a write returns, so that a reader sees each write that has returned. The
next owner continues on the same page. Processes read and write the number in one step of the processor.
"""

import mmap
import os
from pathlib import Path

_BYTES = 8
_OWNER_ONLY = 0o600


class RevisionPage:
    """The page in a file, which is made when it does not exist."""

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _OWNER_ONLY)
        try:
            os.ftruncate(descriptor, _BYTES)
            self._map = mmap.mmap(descriptor, _BYTES)
        finally:
            os.close(descriptor)
        self._number = memoryview(self._map).cast("Q")

    @property
    def revision(self) -> int:
        return self._number[0]

    def raise_to(self, revision: int) -> None:
        """Note a newer revision."""
        self._number[0] = revision

    def close(self) -> None:
        """Free the memory. The file stays for the other processes."""
        self._number.release()
        self._map.close()


def beside(socket: Path) -> Path:
    """The file of the page that belongs to a socket."""
    return socket.with_suffix(".revision")
