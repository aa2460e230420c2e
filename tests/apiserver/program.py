"""The program as a process of its own."""

import asyncio
import signal
import ssl
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a run."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Program:
    """A ready server process. `line`: its line on stdout."""

    process: Process
    directory: Path
    port: int
    line: str

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def admin_token(self) -> str:
        return (self.directory / "pki" / "admin.token").read_text().strip()

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> Ended:
        self.process.send_signal(number)
        return await ended(self.process)


async def ended(process: Process) -> Ended:
    """Wait for the end of the process."""
    out, err = await process.communicate()
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


async def run(*arguments: str) -> Ended:
    """Run until the process ends."""
    return await ended(await start(*arguments))


async def start(*arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "aio_apiserver", *arguments, stdout=PIPE, stderr=PIPE
    )


@asynccontextmanager
async def running(
    directory: Path, *arguments: str, backend: str = "memory", ready: Path | None = None
) -> AsyncIterator[Program]:
    """A server on a free port with all its files in one directory. It is killed after the test if it still runs.

    ready: its ready file, when that cannot be in the directory.
    """
    ready = ready or directory / "ready"
    local = (
        "--bind-address=127.0.0.1",
        "--secure-port=0",
        f"--data-dir={directory}",
        f"--ready-file={ready}",
    )
    process = await start(f"--storage-backend={backend}", *local, *arguments)
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        assert line, (await ended(process)).err
        while not ready.exists():  # noqa: ASYNC110 it comes right behind the line
            await asyncio.sleep(0)
        port = int(ready.read_text().rpartition(":")[2])
        yield Program(process, directory, port, line)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def trusting(directory: Path) -> ssl.SSLContext:
    """The TLS of a client that trusts the CA in a server's directory."""
    return ssl.create_default_context(cafile=directory / "pki" / "ca.crt")
