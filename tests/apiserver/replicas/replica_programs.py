"""Replicas as processes of their own, on one etcd, for runs that kill and restart them."""

import asyncio
import ssl
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from tests.reliability.histories import send_once
from tests.storage.kv.etcd_server import HOST, Member, Port

TOKEN = "soak"
MAPS = "/api/v1/namespaces/default/configmaps"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@dataclass
class ReplicaProgram:
    """One replica: its directory, its port, and its process while it runs."""

    directory: Path
    etcd: Member
    prefix: str
    flags: Sequence[str] = ()
    port: Port = field(default_factory=Port)
    process: Process | None = None

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.port.number}"

    @property
    def is_ready(self) -> bool:
        """Whether it has reported that it serves requests."""
        return (self.directory / "ready").exists()

    @property
    def has_died(self) -> bool:
        """Whether it has ended by itself."""
        return self.process is not None and self.process.returncode is not None

    @property
    def log(self) -> str:
        """What it has logged in all its lives."""
        return (self.directory / "log").read_text()

    async def start(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "ready").unlink(missing_ok=True)
        (self.directory / "tokens").write_text(f"{TOKEN},soak,soak,system:masters\n")
        own = (
            f"--etcd-servers={self.etcd.endpoint}",
            f"--etcd-prefix={self.prefix}",
            f"--bind-address={HOST}",
            f"--secure-port={self.port.number}",
            f"--data-dir={self.directory}",
            f"--token-auth-file={self.directory / 'tokens'}",
            f"--ready-file={self.directory / 'ready'}",
        )
        with (self.directory / "log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "aio_apiserver", *own, *self.flags, stdout=DEVNULL, stderr=log
            )

    async def kill(self) -> None:
        """Kill it as a power failure would."""
        process, self.process = self.process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def terminate(self) -> int:
        """Stop it in order; returns its exit code."""
        assert self.process is not None
        process, self.process = self.process, None
        process.terminate()
        return await process.wait()

    async def wait_until_ready(self) -> None:
        while not self.is_ready:
            assert not self.has_died, self.log[-3000:]
            await asyncio.sleep(0.01)


@asynccontextmanager
async def replica_programs(
    directory: Path, etcd: Member, count: int, *, prefix: str, flags: Sequence[str] = ()
) -> AsyncIterator[Sequence[ReplicaProgram]]:
    """So many replicas, which the caller starts. Those that run are killed in the end."""
    replicas = [ReplicaProgram(directory / f"replica-{number}", etcd, prefix, flags) for number in range(count)]
    try:
        yield replicas
    finally:
        for replica in replicas:
            await replica.kill()
            replica.port.release()


@asynccontextmanager
async def session(limit: int = 100) -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client that trusts any server on loopback, and sends each request once."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connector = aiohttp.TCPConnector(ssl=context, limit=limit)
    async with aiohttp.ClientSession(headers=HEADERS, connector=connector, middlewares=[send_once]) as client:
        yield client
