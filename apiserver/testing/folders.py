"""Folders: a place for a server's files that is gone with its process, however that ends.

A process that is killed cleans nothing up. So a shell waits beside it, does nothing until its standard input ends, and
removes the folder then. Must hold: `close` leaves neither folder nor shell; where there is no shell, all but a process
that is killed is cleaned up.
"""

import secrets
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

_PREFIX = "apiserver-"
_WAIT_AND_REMOVE = ("sh", "-c", 'read -r _; rm -rf -- "$1"', "remove-when-apiserver-ends")


class Folder:
    """A folder of its own."""

    def __init__(self) -> None:
        """Raises OSError. The shell is there first: whatever ends the process now, there is somebody to clean up."""
        self.path = Path(tempfile.gettempdir(), f"{_PREFIX}{secrets.token_hex(8)}")
        self._shell = _shell_for(self.path)
        try:
            self.path.mkdir(mode=0o700)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove it. Safe to call twice."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._shell is not None:
            with suppress(BrokenPipeError):
                self._shell.communicate()


def _shell_for(path: Path) -> "subprocess.Popen[bytes] | None":
    """In a session of its own: what ends a test run from its terminal must not end the shell with it."""
    try:
        return subprocess.Popen(  # noqa: S603 - the folder is ours
            (*_WAIT_AND_REMOVE, str(path)), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        )
    except OSError:
        return None
