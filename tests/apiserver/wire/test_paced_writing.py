"""Paced writing on real sockets: clients that read, read late, or read nothing."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import cast

import pytest

from aio_apiserver.apiserver.wire.paced_writing import LARGE, LONG, SHORT, STALLED_BYTES, PacedWriter, PacedWriters
from aio_apiserver.base.clock import SystemClock

SMALL = 8192
"""Buffers of the sockets, so that a client stalls soon."""
FRAME = bytes(range(256)) * 4096
"""A frame of 1 MiB."""


class Clients:
    """Connections to a server whose sockets take few bytes."""

    def __init__(self) -> None:
        self.sockets: list[socket.socket] = []
        self._accepted: asyncio.Queue[Accepted] = asyncio.Queue()
        self._open: list[Accepted] = []
        self._server: asyncio.Server | None = None

    async def open(self) -> asyncio.Transport:
        """The server's end of a new connection."""
        loop = asyncio.get_running_loop()
        if self._server is None:
            self._server = await loop.create_server(lambda: Accepted(self._accepted), "127.0.0.1", 0)
        client = socket.socket()
        client.setblocking(False)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        await loop.sock_connect(client, self._server.sockets[0].getsockname())
        self.sockets.append(client)
        accepted = await self._accepted.get()
        self._open.append(accepted)
        return accepted.transport

    async def close(self) -> None:
        for client in self.sockets:
            client.close()
        for accepted in self._open:
            accepted.transport.abort()
            await accepted.lost.wait()
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()


class Accepted(asyncio.Protocol):
    """The server's end of a connection."""

    transport: asyncio.Transport

    def __init__(self, accepted: "asyncio.Queue[Accepted]") -> None:
        self._accepted = accepted
        self.lost = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL)
        self._accepted.put_nowait(self)

    def connection_lost(self, _: Exception | None) -> None:
        self.lost.set()


@pytest.fixture
async def clients() -> AsyncIterator[Clients]:
    clients = Clients()
    yield clients
    await clients.close()


async def opened(clients: Clients, writers: PacedWriters, count: int) -> list[PacedWriter]:
    return [PacedWriter(writers, await clients.open(), is_whole=False) for _ in range(count)]


async def until_stalled(writers: PacedWriters, count: int) -> None:
    while writers.statistics()["stalled"] < count:  # noqa: ASYNC110 the kernel decides when
        await asyncio.sleep(0)


async def read(client: socket.socket, size: int) -> bytes:
    """So many bytes of a client that reads now."""
    came = b""
    while len(came) < size:
        came += await asyncio.get_running_loop().sock_recv(client, size)
    return came


async def test_a_frame_that_waits_for_many_clients_is_held_once(clients: Clients) -> None:
    writers = PacedWriters(SystemClock())
    for writer in await opened(clients, writers, 10):
        writer.write(FRAME)

    await until_stalled(writers, 10)

    assert writers.held_bytes == len(FRAME) + 10 * STALLED_BYTES
    writers.close()


async def test_a_client_that_reads_late_gets_every_byte_in_order(clients: Clients) -> None:
    writers = PacedWriters(SystemClock())
    (writer,) = await opened(clients, writers, 1)
    for frame in (b"first", FRAME, b"second", FRAME[:100_000], b"last"):
        writer.write(frame)
    await until_stalled(writers, 1)
    finishing = asyncio.ensure_future(writer.finish())

    came = await read(clients.sockets[0], 15 + len(FRAME) + 100_000)
    await finishing

    assert came == b"first" + FRAME + b"second" + FRAME[:100_000] + b"last"
    assert (writer.waiting, writer.transport.get_write_buffer_size(), writers.held_bytes) == (0, 0, 0)
    writers.close()


async def test_pieces_of_responses_grow_for_a_client_that_reads_and_not_for_others(clients: Clients) -> None:
    writers = PacedWriters(SystemClock())
    reading, silent, watching = await opened(clients, writers, 3)
    reading.piece = silent.piece = LONG
    for writer in (reading, silent, watching):
        writer.write(FRAME)
    for number in (0, 2):
        await read(clients.sockets[number], len(FRAME))
    await until_stalled(writers, 1)

    assert [writer.piece for writer in (reading, silent, watching)] == [LARGE, LONG, SHORT]
    assert writers.held_bytes == len(FRAME) + STALLED_BYTES
    assert reading.stalled_bytes == STALLED_BYTES + 2 * (LARGE - LONG)
    writers.close()


async def test_a_connection_that_stalls_again_is_counted_once(clients: Clients) -> None:
    writers = PacedWriters(SystemClock())
    (writer,) = await opened(clients, writers, 1)
    writers.stalled(writer)
    writers.stalled(writer)

    held = writers.held_bytes
    writers.forget(writer)

    assert (held, writers.held_bytes) == (STALLED_BYTES, 0)
    writers.close()


async def test_two_drains_of_one_connection_both_return_and_one_that_is_cancelled_does_not_end_the_other(
    clients: Clients,
) -> None:
    writers = PacedWriters(SystemClock())
    (writer,) = await opened(clients, writers, 1)
    writer.write(FRAME)
    await until_stalled(writers, 1)
    first, second, cancelled = (asyncio.ensure_future(writer.drain()) for _ in range(3))
    await asyncio.sleep(0)
    cancelled.cancel()

    await read(clients.sockets[0], len(FRAME))

    await asyncio.gather(first, second)
    assert cancelled.cancelled()
    writers.close()


async def test_a_short_frame_is_written_at_once(clients: Clients) -> None:
    writers = PacedWriters(SystemClock())
    (writer,) = await opened(clients, writers, 1)

    writer.write(b"event")

    assert writers.held_bytes == 0
    assert await read(clients.sockets[0], 5) == b"event"
    writers.close()


async def test_above_the_limit_stalled_clients_are_closed_until_the_others_fit(clients: Clients) -> None:
    writers = PacedWriters(SystemClock(), limit=len(FRAME) + 3 * STALLED_BYTES)
    some = await opened(clients, writers, 6)
    for writer in some:
        writer.write(FRAME)

    while writers.statistics()["dropped"] < 3:  # noqa: ASYNC110 the kernel decides when
        await asyncio.sleep(0)

    assert sum(writer.is_closed for writer in some) == 3
    assert writers.held_bytes <= len(FRAME) + 3 * STALLED_BYTES
    writers.close()


async def test_above_the_limit_a_client_that_reads_gets_what_waits(clients: Clients) -> None:
    writers = PacedWriters(SystemClock(), limit=STALLED_BYTES)
    reading, *stalled = await opened(clients, writers, 4)
    for writer in (*stalled, reading):
        writer.write(FRAME)

    came = await read(clients.sockets[0], len(FRAME))

    assert came == FRAME
    writers.close()


async def test_a_watch_that_ends_leaves_nothing_behind(clients: Clients) -> None:
    writers = PacedWriters(SystemClock())
    (writer,) = await opened(clients, writers, 1)
    writer.write(FRAME)
    await until_stalled(writers, 1)

    writer.close()

    assert writers.statistics() == {"bytes": 0, "stalled": 0, "dropped": 0}
    writers.close()
