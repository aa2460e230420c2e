"""Servers and clients for tests: real sockets on loopback, closed after the test."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.apiserver import server
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.filters import entry
from aio_apiserver.apiserver.server import Server
from aio_apiserver.apiserver.wire.connections import RequestHandler
from aio_apiserver.apiserver.wire.context import Filter, Handler, compose
from aio_apiserver.apiserver.wire.head_memory import HeadMemory
from aio_apiserver.apiserver.wire.listeners import Listener
from aio_apiserver.apiserver.wire.paced_writing import PacedWriters
from aio_apiserver.base.clock import Clock, SystemClock

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Answer:
    """A response. Header names are in lower case; of a repeated header the last value counts."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@asynccontextmanager
async def running(directory: Path, **values: Any) -> AsyncIterator[Server]:
    """A server on a free port, with all its files in one directory."""
    async with running_by(None, directory, **values) as started:
        yield started


@asynccontextmanager
async def running_by(clock: Clock | None, directory: Path, **values: Any) -> AsyncIterator[Server]:
    """The same by another clock than the system's."""
    given = {"storage_backend": "memory", "bind_address": LOOPBACK, "secure_port": 0, **values}
    started = await server.start(Settings(data_dir=directory, **given), clock=clock)
    try:
        await started.wait_until_ready()
        yield started
    finally:
        await started.stop()


@asynccontextmanager
async def listening(
    handler: Handler,
    *filters: Filter,
    clock: Clock | None = None,
    heads: HeadMemory | None = None,
    writers: PacedWriters | None = None,
) -> AsyncIterator[Listener]:
    """A handler behind some filters, on a port without TLS."""
    begin = entry.with_context(compose(filters, handler), clock or SystemClock())
    async with connecting(begin, heads=heads, writers=writers) as listener:
        yield listener


@asynccontextmanager
async def connecting(
    handler: RequestHandler, *, heads: HeadMemory | None = None, writers: PacedWriters | None = None
) -> AsyncIterator[Listener]:
    """A handler of aiohttp's requests, on a port without TLS."""
    listener = await Listener.open(handler, LOOPBACK, 0, tls=None, heads=heads, writers=writers)
    try:
        yield listener
    finally:
        await listener.close(0.1)


def trusting(started: Server) -> ssl.SSLContext:
    """The TLS of a client that trusts the server's CA."""
    return ssl.create_default_context(cafile=started.pki.ca.certificate)


def as_admin(started: Server) -> ssl.SSLContext:
    """The TLS of the administrator."""
    tls = trusting(started)
    tls.load_cert_chain(started.pki.admin.certificate, started.pki.admin.key)
    return tls


async def ask(
    port: int,
    target: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    tls: ssl.SSLContext | None = None,
) -> Answer:
    """One request on a connection of its own."""
    lines = {"Host": "localhost", "Content-Length": str(len(body)), "Connection": "close", **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return (await exchange(port, f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body, tls=tls))[0]


async def exchange(port: int, data: bytes, *, tls: ssl.SSLContext | None = None, answers: int = 1) -> Sequence[Answer]:
    """Send raw bytes, and read so many responses."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=tls, limit=1 << 20)
    try:
        writer.write(data)
        is_head = data.startswith(b"HEAD ")
        return [await read_answer(reader, is_head=is_head) for _ in range(answers)]
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def read_answer(reader: asyncio.StreamReader, *, is_head: bool = False) -> Answer:
    """One response; interim ones are skipped."""
    while True:
        status_line = await reader.readline()
        if not status_line:
            raise ConnectionResetError("no answer")
        status = int(status_line.split()[1])
        headers = {}
        while (line := (await reader.readline()).decode().strip()) != "":
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        if status >= 200:
            break
    if is_head or status in (204, 304):
        return Answer(status, headers, b"")
    if headers.get("transfer-encoding") == "chunked":
        return Answer(status, headers, await _read_chunks(reader))
    length = headers.get("content-length")
    body = await reader.readexactly(int(length)) if length is not None else await reader.read()
    return Answer(status, headers, body)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
