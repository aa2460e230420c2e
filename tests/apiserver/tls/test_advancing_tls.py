"""TLS whose other side sends messages without data, on real connections of OpenSSL.

Python has no function that sends new keys. The tests call it in OpenSSL's library.
"""

import asyncio
import ctypes
import random
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.tls import bundles, certificates, contexts
from aio_apiserver.apiserver.tls.advancing_tls import AdvancingTLS
from aio_apiserver.base.clock import SystemClock
from tests.apiserver.serving import LOOPBACK, running
from tests.storage.kv.certificates import Authority
from tests.stream_servers import talking

GET = b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"
DONE = 1
TLS_1_2, TLS_1_3 = 0x0303, 0x0304
_SET_NEWEST = 124
"""OpenSSL's SSL_CTRL_SET_MAX_PROTO_VERSION."""


def library() -> Any:
    """OpenSSL's library."""
    loaded = ctypes.CDLL("libssl.so.3")
    for name in ("TLS_client_method", "SSL_CTX_new", "SSL_new"):
        getattr(loaded, name).restype = ctypes.c_void_p
    return loaded


class OpenSSLClient:
    """A client of OpenSSL, on a blocking socket."""

    def __init__(self, port: int, newest: int = TLS_1_3) -> None:
        self._library = library()
        self._socket = socket.create_connection((LOOPBACK, port))
        self._context = ctypes.c_void_p(self._library.SSL_CTX_new(ctypes.c_void_p(self._library.TLS_client_method())))
        self._library.SSL_CTX_ctrl(self._context, _SET_NEWEST, newest, None)
        self._connection = ctypes.c_void_p(self._library.SSL_new(self._context))
        self._library.SSL_set_fd(self._connection, self._socket.fileno())
        assert self._library.SSL_connect(self._connection) == DONE

    def send(self, data: bytes) -> None:
        assert self._library.SSL_write(self._connection, data, len(data)) == len(data)

    def renew_keys(self) -> None:
        """Send new keys, and ask for some."""
        assert self._library.SSL_key_update(self._connection, 1) == DONE
        assert self._library.SSL_do_handshake(self._connection) == DONE

    def begin_again(self) -> bool:
        """Ask for a second handshake. Returns whether it was done."""
        assert self._library.SSL_renegotiate(self._connection) == DONE
        return bool(self._library.SSL_do_handshake(self._connection) == DONE and self.received())

    def received(self) -> bytes:
        """The next data; empty when the server has closed the connection."""
        buffer = ctypes.create_string_buffer(1 << 16)
        size = self._library.SSL_read(self._connection, buffer, len(buffer))
        return buffer.raw[: max(size, 0)]

    def close(self) -> None:
        self._library.SSL_free(self._connection)
        self._library.SSL_CTX_free(self._context)
        self._socket.close()


@contextmanager
def client(port: int, newest: int = TLS_1_3) -> Iterator[OpenSSLClient]:
    opened = OpenSSLClient(port, newest)
    try:
        yield opened
    finally:
        opened.close()


def exchange(port: int, renewals: int) -> bytes:
    """The answer to a request behind so many new keys, twice."""
    with client(port) as opened:
        for _ in range(2):
            for _ in range(renewals):
                opened.renew_keys()
            opened.send(GET)
            answer = opened.received()
    return answer


async def test_a_client_may_renew_its_keys(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        answer = await asyncio.to_thread(exchange, server.secure.port, 16)

    assert answer.startswith(b"HTTP/1.1 200 OK")


async def test_a_client_that_renews_its_keys_and_sends_nothing_is_left(tmp_path: Path) -> None:
    def flood(port: int) -> bytes:
        with client(port) as opened:
            for _ in range(17):
                opened.renew_keys()
            return opened.received()

    async with running(tmp_path) as server:
        assert await asyncio.to_thread(flood, server.secure.port) == b""


async def test_a_client_of_tls_1_2_cannot_begin_a_second_handshake(tmp_path: Path) -> None:
    def begin_twice(port: int) -> bool:
        with client(port, newest=TLS_1_2) as opened:
            return opened.begin_again()

    async with running(tmp_path) as server:
        assert not await asyncio.to_thread(begin_twice, server.secure.port)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_what_comes_in_any_pieces_is_read_as_it_was_sent(tmp_path: Path, version: ssl.TLSVersion) -> None:
    chance = random.Random(4)
    files = Authority(tmp_path).issue("server", ("localhost",))
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(files.certificate, files.key)
    asking = bundles.unverified()
    asking.minimum_version = asking.maximum_version = version
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    came = ssl.MemoryBIO()
    sender = serving.wrap_bio(to_server, to_client, server_side=True)
    reader = asking.wrap_bio(came, to_server)
    assert isinstance(reader, AdvancingTLS)
    sent, received = bytearray(), bytearray()

    def deliver() -> None:
        """Let some of the bytes come."""
        came.write(to_client.read(chance.choice((1, 3, 4, 5, 6, 100, 5_000, 20_000, 400_000))))

    is_done = {sender: False, reader: False}
    while not all(is_done.values()):
        for side in is_done:
            deliver()
            try:
                side.do_handshake()
                is_done[side] = True
            except ssl.SSLWantReadError:
                pass
    for _ in range(300):
        data = chance.randbytes(chance.choice((1, 2, 1_000, 16_384, 60_000)))
        sender.write(data)
        sent += data
        while to_client.pending or came.pending or reader.pending():
            deliver()
            try:
                received += reader.read(chance.choice((1, 500, 65_536)))
            except ssl.SSLWantReadError:
                continue
            if len(received) > len(sent) // 2 and chance.random() < 0.1:
                break
    with suppress(ssl.SSLWantReadError):
        while True:
            came.write(to_client.read())
            received += reader.read(65_536)

    assert received == sent


async def test_a_server_that_sends_tickets_and_no_answer_is_left(tmp_path: Path) -> None:
    """Its connection ends, as if the server had closed it."""
    files = Authority(tmp_path).issue("server", ("localhost",))
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(files.certificate, files.key)
    serving.num_tickets = 40

    async def talk(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with talking(talk, serving) as port:
        reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=bundles.unverified())
        with pytest.raises(ssl.SSLError, match="too many non-advancing records"):
            await reader.read()
        writer.transport.abort()


def test_contexts_of_both_sides_refuse_a_second_handshake(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    pki = certificates.ensure(settings.pki_dir, contexts.hosts(settings), SystemClock())
    serving = contexts.ServingTLS(settings, pki).context

    for context in (bundles.unverified(), bundles.trusting(""), serving):
        assert context.options & ssl.OP_NO_RENEGOTIATION
