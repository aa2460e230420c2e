"""Folders: a temporary folder for a server's files, which is removed also when the process is killed.

A killed process cannot clean up. So a shell waits beside it until its standard input closes, and then removes the
folder. Must hold: `close` leaves neither folder nor shell. Without a shell, the folder of a killed process stays.
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
    """A temporary folder."""

    def __init__(self) -> None:
        """Raises OSError. The shell starts before the folder exists, so that no folder is left when the process is
        killed.
        """
        self.path = Path(tempfile.gettempdir(), f"{_PREFIX}{secrets.token_hex(8)}")
        self._shell = _shell_for(self.path)
        try:
            self.path.mkdir(mode=0o700)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the folder. It may be called twice."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._shell is not None:
            with suppress(BrokenPipeError):
                self._shell.communicate()


def _shell_for(path: Path) -> "subprocess.Popen[bytes] | None":
    """Start the shell in a session of its own, so that Ctrl-C in the terminal of a test run does not end it."""
    try:
        return subprocess.Popen(  # noqa: S603 - the folder is ours
            (*_WAIT_AND_REMOVE, str(path)), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        )
    except OSError:
        return None
