"""An acceptor that stops leaves nothing behind: no descriptor that the loop watches, and no connection of a client."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.apiserver.wire.accepting import Acceptor
from aio_apiserver.apiserver.wire.pending_clients import MOST_BEGUN
from tests.apiserver.serving import LOOPBACK
from tests.attacks.wires import first_hello
from tests.storage.kv.certificates import Authority

PATIENCE = 60.0
HANDSHAKE = b"\x16\x03\x01"
"""The first bytes of a TLS client. This one sends no more."""


@pytest.fixture
def bound() -> Iterator[socket.socket]:
    with socket.create_server((LOOPBACK, 0)) as listening:
        yield listening


@pytest.fixture
def certified(tmp_path: Path) -> ssl.SSLContext:
    """The TLS of a server with a certificate."""
    files = Authority(tmp_path).issue("server", ("localhost",))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(files.certificate, files.key)
    return tls


def started(bound: socket.socket) -> Acceptor:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    return Acceptor(bound, asyncio.Protocol, tls=tls, handshake_seconds=PATIENCE)


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_socket_that_opens_as_the_listening_one_closes_is_watched(bound: socket.socket) -> None:
    loop, read = asyncio.get_running_loop(), asyncio.Event()
    acceptor = started(bound)
    await turns(3)

    acceptor.stop()
    left, right = socket.socketpair()
    with left, right:
        loop.add_reader(left, read.set)
        await acceptor.close()
        right.send(b"a")
        await asyncio.wait_for(read.wait(), PATIENCE)
        loop.remove_reader(left)

    assert bound.fileno() == -1


@pytest.mark.parametrize("is_waiting", [False, True])
@pytest.mark.parametrize("count", range(12))
async def test_a_client_is_left_however_far_its_handshake_is(
    bound: socket.socket, count: int, is_waiting: bool
) -> None:
    loop = asyncio.get_running_loop()
    acceptor = started(bound)
    await turns(is_waiting * 3)
    with socket.create_connection(bound.getsockname()) as client:
        client.send(HANDSHAKE)
        client.setblocking(False)
        await turns(count)
        await acceptor.close()
        try:
            left = await asyncio.wait_for(loop.sock_recv(client, 1), PATIENCE)
        except ConnectionResetError:  # it waited in the backlog
            left = b""

    assert left == b""


class Counting(asyncio.Protocol):
    """A connection that has been made."""

    def __init__(self, made: asyncio.Event) -> None:
        self._made = made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._made.set()
        assert isinstance(transport, asyncio.Transport)
        transport.abort()


@pytest.mark.parametrize("sent", [b"\x16", b"\x16\x03\x01\x00\xff" + b"\x01" * 100])
async def test_half_a_hello_takes_no_turn(certified: ssl.SSLContext, bound: socket.socket, sent: bytes) -> None:
    made = asyncio.Event()
    acceptor = Acceptor(bound, lambda: Counting(made), tls=certified, handshake_seconds=PATIENCE)
    halves = [socket.create_connection(bound.getsockname()) for _ in range(3 * MOST_BEGUN)]
    try:
        for half in halves:
            half.send(sent)
        _, writer = await asyncio.open_connection(*bound.getsockname(), ssl=bundles.unverified())
        await made.wait()
        writer.transport.abort()
        await turns(3)
        assert acceptor.statistics() == {"pending": len(halves), "begun": 0}
    finally:
        for half in halves:
            half.close()
        await acceptor.close()


@pytest.mark.parametrize("pieces", [1, 2, 4, 100])
async def test_a_hello_in_pieces_is_a_hello(certified: ssl.SSLContext, bound: socket.socket, pieces: int) -> None:
    acceptor = Acceptor(bound, asyncio.Protocol, tls=certified, handshake_seconds=PATIENCE)
    loop = asyncio.get_running_loop()
    hello = first_hello()
    size = -(-len(hello) // pieces)
    with socket.create_connection(bound.getsockname()) as client:
        client.setblocking(False)
        for start in range(0, len(hello), size):
            client.send(hello[start : start + size])
            await turns(3)
        answer = await asyncio.wait_for(loop.sock_recv(client, 100), PATIENCE)
    await acceptor.close()

    assert answer[:1] == HANDSHAKE[:1]
