"""Processes: starts the server as a user does, and the ceiling beside it.

Must hold: the process has ended when its context exits. Each process has its own directory.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aio_apiserver.apiserver.tls import certificates
from aio_apiserver.storage.clock import SystemClock
from benchmarks import ceiling as ceilings

TOKEN = "benchmark"  # noqa: S105 - known to a server on loopback that lives for a minute
_PAUSE = 0.002
_PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Serving:
    """A serving process, and the time from its start to readiness."""

    name: str
    url: str
    pid: int
    seconds_to_ready: float

    def resident_megabytes(self) -> float:
        """Its resident memory, from Linux."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def server(directory: Path) -> Iterator[Serving]:
    """This server with the SQLite engine and its data in the directory."""
    tokens, ready = directory / "tokens.csv", directory / "server.ready"
    tokens.write_text(f"{TOKEN},benchmark,benchmark,system:masters\n")
    flags = {
        "secure-port": "0",
        "bind-address": "127.0.0.1",
        "data-dir": str(directory / "data"),
        "authorization-mode": "RBAC",
        "token-auth-file": str(tokens),
        "disable-admission-plugins": "ServiceAccount",  # pods are made without the controller of accounts
        "ready-file": str(ready),
    }
    command = ["-m", "aio_apiserver", *(f"--{name}={value}" for name, value in flags.items())]
    with _running("server", command, ready) as serving:
        yield serving


@contextmanager
def ceiling(directory: Path, *, pod: bytes, pods: bytes, others: Mapping[str, bytes]) -> Iterator[Serving]:
    """The ceiling, with the same responses; `others`: further ones by Accept header and path."""
    pair = certificates.ensure(directory / "ceiling-pki", ["127.0.0.1"], SystemClock()).server
    shutil.copy(pair.certificate, directory / ceilings.CERTIFICATE)
    shutil.copy(pair.key, directory / ceilings.KEY)
    (directory / ceilings.POD).write_bytes(pod)
    (directory / ceilings.PODS).write_bytes(pods)
    (directory / ceilings.OTHERS).write_bytes(msgspec.msgpack.encode(others))
    command = ["-m", "benchmarks.ceiling", str(directory)]
    with _running("ceiling", command, directory / ceilings.READY) as serving:
        yield serving


@contextmanager
def _running(name: str, command: Sequence[str], ready: Path) -> Iterator[Serving]:
    log = ready.with_suffix(".log")
    begun = time.perf_counter()
    with log.open("wb") as errors:
        process = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL, stderr=errors)
    try:
        while not ready.exists():
            if process.poll() is not None or time.perf_counter() - begun > _PATIENCE:
                raise RuntimeError(f"the {name} does not start: {log.read_text()}")
            time.sleep(_PAUSE)
        seconds = time.perf_counter() - begun
        yield Serving(name, ready.read_text().strip(), process.pid, seconds)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
