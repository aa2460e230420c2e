"""Crowds: clients of one kind that send requests all the time, in a process of their own.

    python -m tests.attacks.crowds KIND PORT PID COUNT SECONDS

It prints the figures of the crowd as JSON. A client that gets 429 waits for the time of its Retry-After.
"""

import asyncio
import itertools
import re
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import cast

import orjson
import uvloop

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
READ = f"{CONFIG_MAPS}/neighbour"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
NODES = 100
TOKENS = "eve-token,eve,eve\njane-token,jane,jane\n" + "".join(
    f"node-token-{number},system:node:n{number},n{number},system:nodes\n" for number in range(NODES)
)
_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n", re.IGNORECASE)
_RETRY = re.compile(rb"\r\nRetry-After: (\d+)\r\n", re.IGNORECASE)
_AT_ONCE = 20
"""The handshakes that run at the same time."""
_TOO_MANY = 429

_numbers = itertools.count(time.time_ns())


def message(method: str, path: str, token: str, obj: object = None, *, content_type: str = "application/json") -> bytes:
    """The bytes of a request; without a token, of an anonymous one."""
    body = b"" if obj is None else orjson.dumps(obj)
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    return (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def creation(token: str) -> bytes:
    return message("POST", CONFIG_MAPS, token, {"metadata": {"name": f"written-{next(_numbers)}"}, "data": {"a": "b"}})


def renewal(node: int) -> bytes:
    spec = {"spec": {"holderIdentity": f"n{node}-{next(_numbers)}"}}
    path, token = f"{LEASES}/n{node}", f"node-token-{node}"
    return message("PATCH", path, token, spec, content_type="application/merge-patch+json")


@dataclass(frozen=True)
class Kind:
    """What a client of a crowd sends, by its number. pause: the seconds between two of its requests."""

    message: Callable[[int], bytes]
    pause: float = 0.0


KINDS: Mapping[str, Kind] = {
    "writers": Kind(lambda _: creation("eve-token")),
    "anonymous": Kind(lambda _: creation("")),
    "readers": Kind(lambda _: message("GET", READ, "jane-token")),
    "renewers": Kind(renewal, pause=1.0),
}


class Client(asyncio.Protocol):
    """One connection with one request at a time."""

    def __init__(self) -> None:
        self.retry_after = 0
        self._transport: asyncio.Transport | None = None
        self._received = b""
        self._status: asyncio.Future[int] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's TLS transports are of no common class

    def ask(self, sent: bytes) -> asyncio.Future[int]:
        """Send a request. The result is the status of its response; 0 when the connection is lost."""
        assert self._transport is not None
        self._status = asyncio.get_running_loop().create_future()
        if self._transport.is_closing():
            self._status.set_result(0)
        else:
            self._transport.write(sent)
        return self._status

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(_HEAD_END)
        length = _LENGTH.search(head + b"\r\n")
        if found and length is not None and len(body) >= int(length[1]):
            retry = _RETRY.search(head + b"\r\n")
            self.retry_after = int(retry[1]) if retry is not None else 0
            self._received = b""
            self._end(int(head.split(b" ", 2)[1]))

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(0)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _end(self, status: int) -> None:
        if self._status is not None and not self._status.done():
            self._status.set_result(status)


async def connected(port: int, count: int) -> list[Client]:
    """So many clients."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    gate = asyncio.Semaphore(_AT_ONCE)

    async def connect() -> Client:
        async with gate:
            loop = asyncio.get_running_loop()
            _, client = await loop.create_connection(Client, "127.0.0.1", port, ssl=tls)
            return client

    return list(await asyncio.gather(*(connect() for _ in range(count))))


@dataclass
class Figures:
    """What a crowd has seen: the times of its responses but 429, and all statuses.

    seconds: by the clock. work: CPU time of the server between a request and its response. On a busy machine, it shows
    what the server has done before.
    """

    seconds: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    duration: float = 0.0

    @property
    def p99(self) -> float:
        return _part(self.seconds, 0.99)

    def __str__(self) -> str:
        by_clock = " ".join(f"{1000 * _part(self.seconds, part):.0f}" for part in (0.5, 0.99, 1.0))
        by_work = " ".join(f"{1000 * _part(self.work, part):.0f}" for part in (0.5, 0.99))
        rate = len(self.seconds) / self.duration
        return f"{rate:.0f}/s, p50 p99 max {by_clock} ms (CPU time of the server: {by_work}), {self.statuses}"


def _part(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else 0.0


async def crowd(name: str, port: int, pid: int, count: int, seconds: float) -> Figures:
    """The figures of so many clients, which send requests for some seconds."""
    kind, clients, figures, statuses = KINDS[name], await connected(port, count), Figures(), Counter[str]()
    clock = ~pid << 3 | 2  # Linux: the CPU time of another process
    began = time.monotonic()

    async def repeat(number: int, client: Client) -> None:
        await asyncio.sleep(kind.pause * number / count)
        while time.monotonic() - began < seconds:
            asked, done_before = time.monotonic(), time.clock_gettime(clock)
            status = await client.ask(kind.message(number))
            statuses[str(status)] += 1
            if status == _TOO_MANY:
                await asyncio.sleep(client.retry_after)
                continue
            figures.seconds.append(time.monotonic() - asked)
            figures.work.append(time.clock_gettime(clock) - done_before)
            if not status:
                return
            await asyncio.sleep(kind.pause)

    await asyncio.gather(*map(repeat, range(count), clients))
    figures.duration, figures.statuses = time.monotonic() - began, dict(statuses)
    for client in clients:
        client.close()
    return figures


async def beside_each_other(port: int, pid: int, counts: Mapping[str, int], seconds: float) -> dict[str, Figures]:
    """The figures of several crowds at once, each from a process of its own."""

    async def run(name: str, count: int) -> Figures:
        words = (name, str(port), str(pid), str(count), str(seconds))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", __name__, *words), stdout=subprocess.PIPE
        )
        out, _ = await process.communicate()
        return Figures(**orjson.loads(out))

    figures = await asyncio.gather(*(run(name, count) for name, count in counts.items()))
    return dict(zip(counts, figures, strict=True))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        _name, _port, _pid, _count, _seconds = sys.argv[1:]
        sys.stdout.buffer.write(
            orjson.dumps(asdict(runner.run(crowd(_name, int(_port), int(_pid), int(_count), float(_seconds)))))
        )
