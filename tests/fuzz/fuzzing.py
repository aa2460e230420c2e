"""Fuzzing: sends thousands of wrong requests to a server, and tells what it made of them.

Must hold: a request without an answer within the limit is a hang, and each 500 is kept with its request.
"""

import asyncio
import re
import ssl
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.apiserver.serving import LOOPBACK, Answer, read_answer
from tests.fuzz.fuzzed_requests import JSON, FuzzedRequest, collections, conversation
from tests.fuzz.internal_errors import reason

HANG_SECONDS = 30.0
CLIENTS = 8
ROUND = 10_000
"""Requests between two clearances of what they have made."""
NAMESPACES = "/api/v1/namespaces"
_PANIC = "caused apiserver to panic"


@dataclass
class Fuzzed:
    """What came of a run."""

    sent: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    panics: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    known: Counter[str] = field(default_factory=Counter)
    unknown: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Connections that the server closed without an answer."""

    @property
    def is_good(self) -> bool:
        return not (self.panics or self.hangs or self.unknown or self.broken)

    def __str__(self) -> str:
        classes = Counter(f"{status // 100}xx" for status in self.statuses.elements())
        said = ", ".join(f"{count} {name}" for name, count in sorted(classes.items()))
        return (
            f"{self.sent} requests: {said}; {len(self.panics)} panics, {len(self.hangs)} hangs, "
            f"{len(self.broken)} without an answer, {self.known.total()} x 500 as kube-apiserver's, "
            f"{len(self.unknown)} other 500s"
        )


@dataclass
class FuzzingClient:
    """One connection, made anew when the server has closed it."""

    port: int
    tls: ssl.SSLContext
    fuzzed: Fuzzed
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    _before: str = ""
    """The last request that was answered on this connection."""

    async def send(self, request: FuzzedRequest) -> None:
        try:
            async with asyncio.timeout(HANG_SECONDS):
                answer = await self.exchange(request)
        except TimeoutError:
            self.fuzzed.hangs.append(told(request))
            await self.close()
        except (ConnectionError, asyncio.IncompleteReadError, IndexError, ValueError) as failure:
            self.fuzzed.broken.append(f"{failure!r} {told(request)} behind {self._before or 'no request'}")
            await self.close()
        else:
            self._before = f"{answer.status} {told(request)}" if self._streams is not None else ""
            self._judge(request, answer)

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            await asyncio.gather(self._streams[1].wait_closed(), return_exceptions=True)
            self._streams, self._before = None, ""

    async def exchange(self, request: FuzzedRequest) -> Answer:
        if self._streams is None:
            self._streams = await asyncio.open_connection(LOOPBACK, self.port, ssl=self.tls, limit=1 << 22)
        reader, writer = self._streams
        writer.write(self._bytes(request))
        if request.is_watch:
            status = int((await reader.readline()).split()[1])
            await self.close()
            return Answer(status, {}, b"")
        answer = await read_answer(reader, is_head=request.method == "HEAD")
        if answer.headers.get("connection") == "close":
            await self.close()
        return answer

    def _bytes(self, request: FuzzedRequest) -> bytes:
        headers = {"Host": "a", **request.headers}
        headers["Content-Length"] = str(len(request.body))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"{request.method} {request.target} HTTP/1.1\r\n{lines}\r\n".encode("utf-8", "surrogateescape")
        return head + request.body

    def _judge(self, request: FuzzedRequest, answer: Answer) -> None:
        self.fuzzed.sent += 1
        self.fuzzed.statuses[answer.status] += 1
        text = answer.body.decode("utf-8", "replace")
        if _PANIC in text:
            self.fuzzed.panics.append(told(request))
        elif answer.status == 500 and text:
            if why := reason(text):
                self.fuzzed.known[why] += 1
            else:
                self.fuzzed.unknown.append(f"{text[:500]} {told(request)}")


def told(request: FuzzedRequest) -> str:
    """A request in one line."""
    return f"{request.method} {request.target} {dict(request.headers)} {request.body[:3000]!r}"


async def fuzz(
    port: int, tls: ssl.SSLContext, *, requests: int, seed: int, after_round: Callable[[], None] = lambda: None
) -> Fuzzed:
    """Send at least so many requests, in rounds of which each begins with an empty namespace."""
    fuzzed = Fuzzed()
    for number in range(-(-requests // ROUND)):
        await _prepare(FuzzingClient(port, tls, Fuzzed()))
        wanted = min(requests, (number + 1) * ROUND)
        async with asyncio.TaskGroup() as tasks:
            for client in range(CLIENTS):
                own = FuzzingClient(port, tls, fuzzed)
                tasks.create_task(_converse(own, Random(f"{seed} {number} {client}"), wanted))
        after_round()
    return fuzzed


async def _prepare(client: FuzzingClient) -> None:
    """Make the namespace, or empty it."""
    await client.send(FuzzedRequest("POST", NAMESPACES, (), {"Content-Type": JSON}, b'{"metadata":{"name":"fuzz"}}'))
    for collection in collections():
        await client.send(FuzzedRequest("DELETE", collection, (), {}, b""))
    await client.close()
    assert not client.fuzzed.hangs, client.fuzzed.hangs


async def _converse(client: FuzzingClient, random: Random, wanted: int) -> None:
    try:
        while client.fuzzed.sent < wanted:
            for request in conversation(random):
                await client.send(request)
    finally:
        await client.close()


def memory(pid: int) -> int:
    """The resident memory of a process in megabytes."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) // 1024 if found else 0
