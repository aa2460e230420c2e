"""The program as its users start it: a process of its own, on a port that the system chooses."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_DEADLINE_SECONDS = 100
"""Less than the limit of pytest for a test, so that the log is shown. A start takes a second or two of CPU time."""
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Program:
    """A running server."""

    url: str
    kubeconfig: Path
    process: "subprocess.Popen[bytes]"


@contextmanager
def running(directory: Path, *flags: str) -> Iterator[Program]:
    """Start the server with its data in `directory`, and end it with SIGTERM."""
    ready = directory / "ready"
    log = directory / "log"
    command = [
        sys.executable,
        "-m",
        "aio_apiserver",
        "--secure-port=0",
        f"--data-dir={directory}",
        f"--ready-file={ready}",
    ]
    with log.open("wb") as output:
        process = subprocess.Popen([*command, *flags], stdout=output, stderr=subprocess.STDOUT)
        try:
            wait_for(ready, process, log)
            kubeconfig = directory / "admin.kubeconfig"
            found = re.search(r"server: (\S+)", kubeconfig.read_text())
            assert found is not None
            yield Program(found[1].strip('"'), kubeconfig, process)
        finally:
            process.terminate()
            process.wait(_DEADLINE_SECONDS)


def wait_for(ready: Path, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait until a server has written its ready file."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not ready.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the server did not start:\n{log.read_text()}")
        time.sleep(_POLL_SECONDS)
