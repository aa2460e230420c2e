"""kill_target: the server that is killed with SIGKILL, with its etcd: how it starts and in which ways it is killed.

Must hold: a server that ends by itself is a violation. `start` returns when the server is ready.
"""

import asyncio
import os
import random
import signal
import ssl
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.apiserver.workers import running
from tests.apiserver.workers.running import Address
from tests.reliability.histories import Replica
from tests.storage.kv.etcd_server import HOST, Member, Port

READY_SECONDS = 600.0
"""A server that is not ready by then hangs. On a busy machine a start takes its time."""


class Target:
    """The server under test, with the etcd that it uses if it uses one."""

    def __init__(self, directory: Path, *, workers: int, etcd: Member | None) -> None:
        self._directory = directory
        self._workers = workers
        self._etcd = etcd
        self._port = Port()
        self._process: Process | None = None
        self.has_ended = True
        """Whether all processes of the server have ended since the last `kill`."""

    @property
    def replica(self) -> Replica:
        token = (self._directory / "pki" / "admin.token").read_text().strip()
        tls = ssl.create_default_context(cafile=self._directory / "pki" / "ca.crt")
        return Replica(f"https://{HOST}:{self._port.number}", token, tls)

    async def start(self) -> None:
        """Start the server unless it runs, and return when it is ready."""
        if self._process is None:
            await self._launch()
        async with asyncio.timeout(READY_SECONDS):
            self.check_life()
            while not (self._directory / "ready").exists():
                await asyncio.sleep(0.01)
                self.check_life()

    def check_life(self) -> None:
        """Raise AssertionError with the end of the log when the server has ended by itself."""
        assert self._process is not None
        assert self._process.returncode is None, (self._directory / "log").read_text()[-3000:]

    async def kill(self, chance: random.Random) -> None:
        """Kill a process, or all of them."""
        ways = [self._kill_server]
        if self._etcd is not None:
            ways.append(self._kill_etcd)
        if self._workers > 1:
            ways += [lambda: self._kill_worker(chance), self._kill_supervisor]
        await chance.choice(ways)()
        self.has_ended = self._process is None

    async def close(self) -> None:
        await self._kill_server()
        self._port.release()

    async def _launch(self) -> None:
        (self._directory / "ready").unlink(missing_ok=True)
        store: Sequence[str] = ("--storage-backend=sqlite",)
        if self._etcd is not None:
            store = ("--storage-backend=etcd3", f"--etcd-servers={self._etcd.endpoint}")
        own = (
            f"--bind-address={HOST}",
            f"--secure-port={self._port.number}",
            f"--data-dir={self._directory}",
            f"--ready-file={self._directory / 'ready'}",
            f"--workers={self._workers}",
        )
        with (self._directory / "log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "aio_apiserver"),
                *own,
                *store,
                stdout=DEVNULL,
                stderr=log,
            )

    async def _kill_server(self) -> None:
        """Kill all processes of the server. A supervisor that is stopped starts no worker meanwhile."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.send_signal(signal.SIGSTOP)
            for pid in (*_children(process.pid), process.pid):
                os.kill(pid, signal.SIGKILL)
            await process.wait()

    async def _kill_supervisor(self) -> None:
        """Kill the supervisor alone, and wait for the end of its workers, which hold the port until then."""
        process, self._process = self._process, None
        assert process is not None
        workers = _children(process.pid)
        process.kill()
        await process.wait()
        async with asyncio.timeout(READY_SECONDS):
            while any(map(running.is_alive, workers)):  # noqa: ASYNC110 - the processes are not children of this one
                await asyncio.sleep(0.01)

    async def _kill_etcd(self) -> None:
        assert self._etcd is not None
        self._etcd.crash()
        await asyncio.to_thread(self._etcd.start)

    async def _kill_worker(self, chance: random.Random) -> None:
        assert self._process is not None
        if found := list(Address(self._directory, self._port.number, self._process.pid).workers):
            with suppress(ProcessLookupError):
                os.kill(chance.choice(found), signal.SIGKILL)


def _children(pid: int) -> Sequence[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
