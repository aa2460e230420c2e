"""Servers with two workers, and connections to the one or the other."""

import asyncio
import os
import ssl
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from tests.apiserver import program
from tests.apiserver.program import Program
from tests.apiserver.serving import LOOPBACK, Answer, read_answer
from tests.reliability.histories import Replica

_WORKER = b"aio_apiserver.apiserver.worker"
NO_HEADERS: Mapping[str, str] = MappingProxyType({})
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection, which one worker serves as long as it lives. `pid`: the process of that worker."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    token: str
    worker: int
    pid: int
    events: deque[bytes] = field(default_factory=deque)
    """Events that were read and not returned yet."""

    async def ask(
        self, target: str, *, method: str = "GET", body: Any = None, headers: Mapping[str, str] = NO_HEADERS
    ) -> Answer:
        await self.begin(target, method=method, body=body, headers=headers)
        return await read_answer(self.reader)

    async def begin(
        self, target: str, *, method: str = "GET", body: Any = None, headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        """Send a request without reading its answer. A header that is empty is not sent."""
        sent = orjson.dumps(body) if body is not None else b""
        given = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **headers}
        fields = (f"{name}: {value}" for name, value in given.items() if value)
        head = (f"{method} {target} HTTP/1.1", "Host: a", *fields, f"Content-Length: {len(sent)}")
        self.writer.write("\r\n".join((*head, "", "")).encode() + sent)

    async def watch(self, target: str, *, revision: str = "") -> None:
        """Begin a watch, and read the head of its answer."""
        await self.begin(f"{target}?watch=1&resourceVersion={revision}")
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert b" 200 OK" in head, head

    async def event(self) -> Any:
        """The next event of the watch. A chunk has one or several."""
        while not self.events:
            async with asyncio.timeout(20):
                size = int(await self.reader.readline(), 16)
                chunk = await self.reader.readexactly(size + 2)
            self.events.extend(chunk[:size].splitlines())
        return orjson.loads(self.events.popleft())

    async def close(self) -> None:
        self.writer.close()
        await asyncio.gather(self.writer.wait_closed(), return_exceptions=True)


@dataclass(frozen=True, slots=True)
class Address:
    """A server with two workers. `pid`: the process of the supervisor."""

    directory: Path
    port: int
    pid: int

    @property
    def replica(self) -> Replica:
        """The server as the clients of tests/reliability see it."""
        return Replica(f"https://{LOOPBACK}:{self.port}", self.token, self.tls)

    @property
    def token(self) -> str:
        return (self.directory / "pki" / "admin.token").read_text()

    @property
    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.directory / "pki" / "ca.crt")

    @property
    def workers(self) -> dict[int, int]:
        """The numbers of the present workers by process id. A process that is being started has no command yet."""
        pids = map(int, Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split())
        commands = {pid: _command_of(pid) for pid in pids}
        begun = {pid: command for pid, command in commands.items() if command[2:3] == [_WORKER]}
        return {pid: orjson.loads(command[3])[0] for pid, command in begun.items()}

    async def connect(self) -> Connection:
        """A connection to one of the workers; the kernel chooses which one.

        Raises ConnectionError or EOFError when that worker is being killed.
        """
        token = self.token
        reader, writer = await asyncio.open_connection(LOOPBACK, self.port, ssl=self.tls)
        asking = Connection(reader, writer, token, worker=-1, pid=0)
        try:
            slot = orjson.loads((await asking.ask("/debug/pprof/cmdline")).text.split("\0")[1])
            pid = next((pid for pid, number in self.workers.items() if number == slot[0]), None)
            if pid is None:
                raise ConnectionError(f"worker {slot[0]} has ended")
        except BaseException:  # an open connection would fail a later test
            await asking.close()
            raise
        return Connection(reader, writer, token, worker=slot[0], pid=pid)

    async def connect_to(self, worker: int) -> Connection:
        """A connection to a worker."""
        while True:
            with suppress(ConnectionError, EOFError):  # of a worker that is being killed
                found = await self.connect()
                if found.worker == worker:
                    return found
                await found.close()


def address_of(started: Program) -> Address:
    return Address(started.directory, started.port, started.process.pid)


@asynccontextmanager
async def workers(directory: Path, *flags: str, backend: str = "sqlite") -> AsyncIterator[Program]:
    """A server with two workers."""
    async with program.running(directory, "--workers=2", *flags, backend=backend) as started:
        yield started


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[Sequence[Connection]]:
    """A connection to each worker, the first one first."""
    async with AsyncExitStack() as closing:
        found = []
        for number in (0, 1):
            found.append(await address.connect_to(number))
            closing.push_async_callback(found[-1].close)
        yield found


def _command_of(pid: int) -> list[bytes]:
    """The arguments of a process; none when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return []


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
