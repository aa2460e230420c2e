"""Wires: raw connections of an attacker, which need not read the responses of the server."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

_ALL = float("inf")
_SMALLEST = 4096
"""The bytes that the machine of an attacker takes when the attacker reads nothing."""
_AT_ONCE = 20
"""The handshakes that run at the same time."""


class Wire(asyncio.Protocol):
    """One connection. It counts what comes, and reads no more after `limit` bytes."""

    def __init__(self, limit: float) -> None:
        self.transport: asyncio.Transport | None = None
        self.start = b""
        """The first bytes that came: the head of the first response."""
        self.came = 0
        self.begun = asyncio.Event()
        """Set when something has come, and when nothing will come."""
        self.closed = asyncio.Event()
        self._limit = limit

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's TLS transports are of no common class

    def data_received(self, data: bytes) -> None:
        if not self.came:
            self.start = data[:100]
            self.begun.set()
        self.came += len(data)
        if self.came > self._limit and self.transport is not None:
            self.transport.pause_reading()

    def connection_lost(self, exc: BaseException | None) -> None:
        self.begun.set()
        self.closed.set()

    @property
    def status(self) -> int:
        """The status of the first response; 0 without one."""
        words = self.start.split(b" ", 2)
        return int(words[1]) if len(words) > 1 else 0


@dataclass(frozen=True)
class Target:
    """The server, and the token of a user."""

    port: int
    ca: Path
    token: str = ""

    def head(self, method: str, path: str, **headers: object) -> bytes:
        """The head of a request; without a token, of an anonymous one."""
        lines = {"Host": "localhost", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if self.token:
            lines["Authorization"] = f"Bearer {self.token}"
        return "\r\n".join([f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in lines.items()), "", ""]).encode()

    async def open(self, sent: bytes, *, has_tls: bool = True, limit: float = _ALL) -> Wire:
        """A connection that has sent these bytes. Raises OSError."""
        tls = ssl.create_default_context(cafile=self.ca) if has_tls else None
        loop = asyncio.get_running_loop()
        name = "localhost" if has_tls else None
        connected = socket.socket()
        connected.setblocking(False)
        if limit != _ALL:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALLEST)
        await loop.sock_connect(connected, ("127.0.0.1", self.port))
        transport, wire = await loop.create_connection(
            lambda: Wire(limit), sock=connected, ssl=tls, server_hostname=name
        )
        if has_tls and limit != _ALL:
            transport.set_read_buffer_limits(high=_SMALLEST)  # type: ignore[attr-defined]
        transport.write(sent)
        return wire


def first_hello() -> bytes:
    """The first message of a TLS client."""
    outgoing = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


async def many(count: int, make: Callable[[int], Awaitable[Wire]]) -> list[Wire]:
    """So many connections, a few at a time. Those that the server refuses are left out."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(number: int) -> Wire | None:
        async with gate:
            try:
                return await make(number)
            except OSError:
                return None

    return [wire for wire in await asyncio.gather(*map(one, range(count))) if wire is not None]
