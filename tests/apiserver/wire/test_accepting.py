"""An acceptor that stops leaves nothing behind: no descriptor that the loop watches, and no connection of a client."""

import asyncio
import socket
import ssl
from collections.abc import Iterator

import pytest

from aio_apiserver.apiserver.wire.accepting import Acceptor
from tests.apiserver.serving import LOOPBACK

PATIENCE = 60.0
HANDSHAKE = b"\x16\x03\x01"
"""The first bytes of a TLS client. This one sends no more."""


@pytest.fixture
def bound() -> Iterator[socket.socket]:
    with socket.create_server((LOOPBACK, 0)) as listening:
        yield listening


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
