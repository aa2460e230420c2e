"""Load: clients that send requests to one server over TLS, each on its own kept connection.

They use little CPU, since they share the machine with the server: the requests are prepared, and of a response only
status and length are read.
"""

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from benchmarks.processes import TOKEN, Serving

P = TypeVar("P", bound=asyncio.Protocol)

_HEAD_END = b"\r\n\r\n"
_LAST_CHUNK = b"0\r\n\r\n"
_CHUNKED = re.compile(rb"\r\nTransfer-Encoding: chunked\r\n", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n", re.IGNORECASE)
_NOT_YET = frozenset((b"404", b"429"))
_PAUSE = 0.02


def request(
    method: str,
    path: str,
    body: bytes = b"",
    *,
    accept: str = "*/*",
    encoding: str = "",
    content_type: str = "application/json",
    token: str = TOKEN,
) -> bytes:
    """The bytes of a request."""
    lines = (
        f"{method} {path} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {token}",
        f"Content-Type: {content_type}",
        f"Accept: {accept}",
        *([f"Accept-Encoding: {encoding}"] if encoding else []),
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join(lines).encode() + _HEAD_END + body


class Client(asyncio.Protocol):
    """One connection with one request at a time."""

    def __init__(self, *, keeps_bodies: bool = False) -> None:
        self._keeps_bodies = keeps_bodies
        self._transport: asyncio.Transport | None = None
        self._done: asyncio.Future[bytes] | None = None
        self._received: list[bytes] = []
        self._left = 0
        self._is_chunked = False
        self._is_patient = self._is_refused = False
        self.body_bytes = 0
        """The length of the last response's body."""

    async def ask_until_served(self, message: bytes) -> bytes:
        """The same as `ask`, again while the server answers 404 or 429: until a new resource is served, or its watch
        cache is filled.
        """
        self._is_patient = True
        body = await self.ask(message)
        while self._is_refused:
            await asyncio.sleep(_PAUSE)
            body = await self.ask(message)
        self._is_patient = False
        return body

    async def ask(self, message: bytes) -> bytes:
        """Send a request and wait for the end of its response. Returns the body, if bodies are kept."""
        assert self._transport is not None
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(message)
        return await self._done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's transport is not a subclass

    def data_received(self, data: bytes) -> None:
        if not self._left and not self._is_chunked:
            data = self._begin(data)
        if self._keeps_bodies:
            self._received.append(data)
        self.body_bytes += len(data)
        if self._is_chunked:
            if data.endswith(_LAST_CHUNK):
                self._is_chunked = False
                self._finish()
            return
        self._left -= len(data)
        if not self._left:
            self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(exc or ConnectionResetError("closed by the server"))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _begin(self, data: bytes) -> bytes:
        """Read the head, which arrives in one piece; the rest belongs to the body."""
        end = data.index(_HEAD_END) + len(_HEAD_END)
        length = _LENGTH.search(data, 0, end)
        self._is_chunked = _CHUNKED.search(data, 0, end) is not None
        self._is_refused = self._is_patient and data[9:12] in _NOT_YET
        is_success = data[9:10] == b"2" or self._is_refused
        if not is_success or (length is None and not self._is_chunked):
            raise AssertionError(f"not a successful response with a body: {data[:400]!r}")
        self._left = int(length[1]) if length is not None else 0
        self.body_bytes = 0
        return data[end:]

    def _finish(self) -> None:
        body, self._received = b"".join(self._received), []
        assert self._done is not None
        self._done.set_result(body)


@asynccontextmanager
async def clients(serving: Serving, count: int, *, keeps_bodies: bool = False) -> AsyncIterator[Sequence[Client]]:
    """So many open connections."""
    made = [await connect(serving, lambda: Client(keeps_bodies=keeps_bodies)) for _ in range(count)]
    try:
        yield made
    finally:
        for client in made:
            client.close()


async def connect(serving: Serving, make: Callable[[], P]) -> P:
    """A connection with the caller's protocol."""
    host, port = urlsplit(serving.url).netloc.split(":")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    _, protocol = await asyncio.get_running_loop().create_connection(make, host, int(port), ssl=context)
    return protocol


class Sample(NamedTuple):
    """The result of one round of requests. cpu, clients: seconds of CPU time for each request, of the server's
    processes and of this one.
    """

    rate: float
    p50: float
    p99: float
    cpu: float
    clients: float = 0


class Stopwatch:
    """Measures a round from here on."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._cpu, self._clients = serving.cpu_seconds(), time.process_time()
        self.begun = time.perf_counter()

    def sample(self, latencies: Sequence[float], count: int) -> Sample:
        """The sample of so many requests or deliveries, with some or all of their latencies."""
        took = time.perf_counter() - self.begun
        cpu, clients = self._serving.cpu_seconds() - self._cpu, time.process_time() - self._clients
        ordered = sorted(latencies)
        p50, p99 = (ordered[len(ordered) * part // 100] for part in (50, 99))
        return Sample(count / took, p50, p99, cpu / count, clients / count)


async def sample(serving: Serving, make: Callable[[], bytes], *, at_once: int, seconds: float) -> Sample:
    """Rate, latencies in seconds, and CPU time of requests of `make`, with so many clients."""
    async with clients(serving, at_once) as asking:
        watch = Stopwatch(serving)
        found = await asyncio.gather(*(_timed_until(client, make, watch.begun + seconds) for client in asking))
        latencies = [one for of_client in found for one in of_client]
        return watch.sample(latencies, len(latencies))


async def _timed_until(client: Client, make: Callable[[], bytes], end: float) -> list[float]:
    latencies: list[float] = []
    begun = time.perf_counter()
    while begun < end:
        await client.ask(make())
        now = time.perf_counter()
        latencies.append(now - begun)
        begun = now
    return latencies


async def rate(serving: Serving, make: Callable[[], bytes], *, at_once: int, seconds: float) -> float:
    """Responses per second to requests of `make`, with so many clients."""
    async with clients(serving, at_once) as asking:
        begun = time.perf_counter()
        counts = await asyncio.gather(*(_ask_until(client, make, begun + seconds) for client in asking))
        return sum(counts) / (time.perf_counter() - begun)


async def _ask_until(client: Client, make: Callable[[], bytes], end: float) -> int:
    count = 0
    while time.perf_counter() < end:
        await client.ask(make())
        count += 1
    return count


async def send_all(serving: Serving, messages: Sequence[bytes], *, at_once: int) -> float:
    """Send each message once. Returns the rate of responses per second."""
    left, begun = iter(messages), time.perf_counter()

    async def send(client: Client) -> None:
        for message in left:
            await client.ask(message)

    async with clients(serving, at_once) as asking:
        await asyncio.gather(*map(send, asking))
    return len(messages) / (time.perf_counter() - begun)


async def body_of(serving: Serving, path: str, *, accept: str = "*/*") -> bytes:
    """The body of the response to a GET."""
    async with clients(serving, 1, keeps_bodies=True) as (client,):
        return await client.ask(request("GET", path, accept=accept))
