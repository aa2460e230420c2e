"""Processes: starts the server as a user does, and the ceiling beside it.

Must hold: the process has ended when its context exits. Each process has its own directory.
"""

import os
import shutil
import signal
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from aio_apiserver.apiserver.tls import certificates
from aio_apiserver.base.clock import SystemClock
from benchmarks import ceiling as ceilings
from tests.storage.kv.etcd_server import Port

TOKEN = "benchmark"  # noqa: S105 - known to a server on loopback that lives for a minute
READER, WRITER = "reader-token", "writer-token"
"""Those of users who are no administrators, as flow control exempts these."""
_TOKENS = f"{TOKEN},benchmark,benchmark,system:masters\n{READER},reader,reader\n{WRITER},writer,writer\n"
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
        """The resident memory of its processes, from Linux."""
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self._pids())
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def most_megabytes(self) -> float:
        """The most resident memory that the process has had, from Linux."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6

    def cpu_seconds(self) -> float:
        """The CPU time that its processes have used, from Linux."""
        stats = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self._pids())
        return sum(int(fields[11]) + int(fields[12]) for fields in stats) / os.sysconf("SC_CLK_TCK")

    def _pids(self) -> list[int]:
        """The process and its children."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, children)]


@contextmanager
def server(directory: Path, name: str = "server", *, holds: Path | None = None, **more: str) -> Iterator[Serving]:
    """This server with the SQLite engine and its data in the directory. more: flags by their names in Python.

    holds: a file for what holds the event loop (watched.py).
    """
    tokens, ready = directory / "tokens.csv", directory / "server.ready"
    tokens.write_text(_TOKENS)
    flags = {
        "secure-port": "0",
        "bind-address": "127.0.0.1",
        "data-dir": str(directory / "data"),
        "authorization-mode": "RBAC",
        "token-auth-file": str(tokens),
        "disable-admission-plugins": "ServiceAccount",  # pods are made without the controller of accounts
        "ready-file": str(ready),
        **{flag.replace("_", "-"): value for flag, value in more.items()},
    }
    module = ["aio_apiserver"] if holds is None else ["benchmarks.watched", str(holds)]
    ready.unlink(missing_ok=True)
    command = ["-m", *module, *(f"--{name}={value}" for name, value in flags.items())]
    with _running(name, command, ready) as serving:
        yield serving


@contextmanager
def kube_apiserver(binary: Path, directory: Path, etcd: str) -> Iterator[Serving]:
    """A kube-apiserver on an etcd."""
    tokens = directory / "tokens.csv"
    tokens.write_text(_TOKENS)
    key = directory / "service-accounts.key"
    key.write_bytes(_signing_key())
    port = Port()
    number = port.number
    port.release()
    flags = {
        "etcd-servers": etcd,
        "secure-port": str(number),
        "bind-address": "127.0.0.1",
        "cert-dir": str(directory / "certificates"),
        "token-auth-file": str(tokens),
        "authorization-mode": "RBAC",
        "disable-admission-plugins": "ServiceAccount",
        "service-account-issuer": "https://127.0.0.1",
        "service-account-key-file": str(key),
        "service-account-signing-key-file": str(key),
    }
    command = [str(binary), *(f"--{name}={value}" for name, value in flags.items())]
    begun, log = time.perf_counter(), directory / "kube-apiserver.log"
    with log.open("wb") as lines:
        process = subprocess.Popen(command, stdout=lines, stderr=lines)
    try:
        url = f"https://127.0.0.1:{number}"
        if not _becomes_ready(process, url, begun):
            raise RuntimeError(f"kube-apiserver does not start: {log.read_text()[-2000:]}")
        yield Serving("kube-apiserver", url, process.pid, time.perf_counter() - begun)
    finally:
        process.terminate()
        process.wait()


def _signing_key() -> bytes:
    """A key for service account tokens. kube-apiserver takes RSA and ECDSA keys."""
    made = ec.generate_private_key(ec.SECP256R1())
    return made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def _becomes_ready(process: "subprocess.Popen[bytes]", url: str, begun: float) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    while process.poll() is None and time.perf_counter() - begun < 2 * _PATIENCE:
        with suppress(OSError):
            urllib.request.urlopen(f"{url}/readyz", context=context).close()  # noqa: S310 - on loopback
            return True
        time.sleep(_PAUSE)
    return False


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
