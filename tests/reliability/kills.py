"""kills: a server that is killed with SIGKILL while clients write 200 times a second, again and again.

The store is a SQLite file or etcd, and the server has one process or two workers. Of workers, one is killed, all of
them, or their supervisor alone; of a server on etcd, the server or etcd. Must hold: after each kill, each object is as
its last acknowledged write left it, or as a later write did whose answer was lost. No resourceVersion goes back. A
client writes no object again while a write of it is in doubt. A server that ends by itself is a violation.
"""

import asyncio
import os
import random
import signal
import ssl
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from tests.apiserver.workers import running
from tests.apiserver.workers.running import Address
from tests.reliability import histories
from tests.reliability.histories import MAPS, Replica
from tests.reliability.outcomes import Latencies, Outcome
from tests.storage.kv.etcd_server import HOST, Member, Port, newest_binary, version_of

_WRITES_A_SECOND = 200
_CLIENTS = 8
_NAMES = 5
"""The objects of each client."""
_LONGEST = 1.0
_READY_SECONDS = 600.0
"""A server that is not ready by then hangs. On a busy machine a start takes its time."""

Content = str | None


@dataclass(slots=True)
class Claim:
    """What is known of an object: the last acknowledged content, and the contents of later writes without an answer."""

    content: Content = None
    in_doubt: list[Content] = field(default_factory=list)
    was_checked: bool = False
    """Whether all processes have ended since, and a check then found the acknowledged content."""
    story: list[str] = field(default_factory=list)
    """What happened, for a message about a violation."""

    def note(self, what: str) -> None:
        self.story = [*self.story[-8:], what]

    def acknowledge(self, content: Content) -> None:
        self.content, self.in_doubt, self.was_checked = content, [], False

    def check(self, name: str, found: Content, *, is_final: bool) -> bool:
        """Compare with the store. Returns whether a write in doubt has happened.

        is_final: all processes of the server have ended since the last check. A process that lives may still have a
        write in doubt, and etcd for a moment: so it stays in doubt for two final checks.
        """
        assert found == self.content or found in self.in_doubt, f"{name}: {found} instead of {self}"
        happened = found != self.content
        self.note(f"listed {found}")
        if happened or (is_final and self.was_checked) or not self.in_doubt:
            self.acknowledge(found)
        else:
            self.was_checked = self.was_checked or is_final
        return happened


@dataclass(slots=True)
class Totals:
    """What all rounds have seen. version: the highest resourceVersion of an acknowledged write."""

    kills: int = 0
    acknowledged: int = 0
    in_doubt: int = 0
    in_doubt_and_written: int = 0
    version: int = 0
    latencies: Latencies = field(default_factory=Latencies)

    def outcome(self, text: str) -> Outcome:
        counts = {
            "kills": self.kills,
            "acknowledged writes": self.acknowledged,
            "writes without an answer": self.in_doubt,
            "of these in the store": self.in_doubt_and_written,
            "lost writes": 0,
            "resourceVersions that went back": 0,
        }
        return Outcome(counts, moments=self.latencies.moments(), text=text)


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
        async with asyncio.timeout(_READY_SECONDS):
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
        async with asyncio.timeout(_READY_SECONDS):
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


class Writer:
    """One client with objects of its own, which it creates, updates and deletes one write at a time."""

    def __init__(self, number: int, seed: int, totals: Totals) -> None:
        self.claims = {f"written-{seed}-{number}-{one}": Claim() for one in range(_NAMES)}
        self._chance = random.Random(f"{seed} {number}")
        self._totals = totals
        self._written = 0

    async def work(self, session: aiohttp.ClientSession, stop: asyncio.Event) -> None:
        """Write 200 times a second together with the other clients. A request that has begun is waited for."""
        while not stop.is_set():
            await asyncio.sleep(self._chance.uniform(0, 2 * _CLIENTS / _WRITES_A_SECOND))
            await self._write(session, self._chance.choice(list(self.claims)))

    async def _write(self, session: aiohttp.ClientSession, name: str) -> None:
        claim = self.claims[name]
        if claim.in_doubt:
            return
        method, content = self._planned(claim)
        claim.in_doubt.append(content)
        claim.note(f"{method} {content}")
        self._totals.in_doubt += 1
        body = {"metadata": {"name": name}, "data": {"content": content}} if content else None
        path = MAPS if method == "POST" else f"{MAPS}/{name}"
        with suppress(aiohttp.ClientError, TimeoutError, orjson.JSONDecodeError):
            with self._totals.latencies.measured():
                async with session.request(method, path, json=body) as response:
                    answer = orjson.loads(await response.read())
            self._take(claim, response.status, answer, content)

    def _planned(self, claim: Claim) -> tuple[str, Content]:
        self._written += 1
        content = f"content-{self._written}"
        if claim.content is None:
            return "POST", content
        return ("DELETE", None) if self._chance.random() < 0.2 else ("PUT", content)

    def _take(self, claim: Claim, status: int, answer: Any, content: Content) -> None:
        """Note an answer. One of a server that cannot reach its store leaves the outcome open."""
        claim.note(f"status {status}")
        if status >= 500 or status == 429:
            return
        assert status in (200, 201), f"{claim}: {answer}"
        self._totals.in_doubt -= 1
        self._totals.acknowledged += 1
        claim.acknowledge(content)
        if content is not None:
            self._totals.version = max(self._totals.version, int(answer["metadata"]["resourceVersion"]))


async def run(directory: Path, *, rounds: int, workers: int, on_etcd: bool, seed: int) -> Outcome:
    """So many kills on one store. Raises AssertionError when an acknowledged write was lost."""
    chance = random.Random(seed)
    totals = Totals()
    writers = [Writer(number, seed, totals) for number in range(_CLIENTS)]
    async with _target(directory, workers=workers, on_etcd=on_etcd) as target:
        for _ in range(rounds):
            await target.start()
            async with histories.session(target.replica) as session:
                await _check(session, writers, target, totals)
                await _write_and_kill(session, writers, target, chance)
            totals.kills += 1
        await target.start()
        async with histories.session(target.replica) as session:
            await _check(session, writers, target, totals)
    return totals.outcome(f"etcd {'.'.join(map(str, version_of(newest_binary())))}" if on_etcd else "")


@asynccontextmanager
async def _target(directory: Path, *, workers: int, on_etcd: bool) -> AsyncIterator[Target]:
    async with AsyncExitStack() as stack:
        etcd = stack.enter_context(Member(fsync=True, binary=newest_binary())) if on_etcd else None
        target = Target(directory, workers=workers, etcd=etcd)
        stack.push_async_callback(target.close)
        yield target


async def _write_and_kill(
    session: aiohttp.ClientSession, writers: Sequence[Writer], target: Target, chance: random.Random
) -> None:
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        for writer in writers:
            tasks.create_task(writer.work(session, stop))
        try:
            await asyncio.sleep(chance.uniform(0.02, _LONGEST))
            await target.kill(chance)
        finally:
            stop.set()


async def _check(session: aiohttp.ClientSession, writers: Sequence[Writer], target: Target, totals: Totals) -> None:
    """Compare a list with all claims."""
    listed = await _listed(session, target)
    assert int(listed["metadata"]["resourceVersion"]) >= totals.version, "the resourceVersion went back"
    found = {item["metadata"]["name"]: item["data"]["content"] for item in listed["items"]}
    for writer in writers:
        for name, claim in writer.claims.items():
            happened = claim.check(name, found.pop(name, None), is_final=target.has_ended)
            totals.in_doubt_and_written += happened
    assert not found, f"objects that no client wrote: {found}"


async def _listed(session: aiohttp.ClientSession, target: Target) -> Any:
    """A list, as soon as the server answers. A worker that was killed is replaced meanwhile."""
    async with asyncio.timeout(_READY_SECONDS):
        while True:
            target.check_life()
            with suppress(aiohttp.ClientError, TimeoutError):
                async with session.get(MAPS) as response:
                    if response.status == 200:
                        return orjson.loads(await response.read())
            await asyncio.sleep(0.01)
