"""One gRPC stream against a server that speaks HTTP/2 by h2: messages, back-pressure, and its end."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest
import uvloop
from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection

from aio_apiserver.storage.etcd_config import EtcdConfig, Tls, parse_endpoint
from aio_apiserver.storage.kv.etcd.channel import Credentials, MemberDialer
from aio_apiserver.storage.kv.etcd.grpc_status import Code, RpcFailed
from aio_apiserver.storage.kv.etcd.grpc_stream import GrpcStream
from aio_apiserver.storage.kv.etcd.http2 import WINDOW
from tests.storage.kv.etcd_cluster import until

METHOD = "/etcdserverpb.Watch/Watch"
ANSWER = [(":status", "200"), ("content-type", "application/grpc")]


def framed(*messages: bytes) -> bytes:
    return b"".join(b"\0" + len(message).to_bytes(4, "big") + message for message in messages)


class H2Server(asyncio.Protocol):
    """The other end of one connection; it sends only the answers that HTTP/2 demands."""

    def __init__(self) -> None:
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.request: dict[str, str] = {}
        self.received = b""
        self.pings = 0
        self.answered: list[bytes] = []
        self.is_silent = False
        self._unsent = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.h2.initiate_connection()
        self.flush()

    def data_received(self, data: bytes) -> None:
        for event in self.h2.receive_data(data):
            if isinstance(event, events.RequestReceived):
                self.request = {str(name): str(value) for name, value in event.headers or ()}
                self.h2.send_headers(1, ANSWER)
            elif isinstance(event, events.DataReceived):
                self.received += event.data or b""
                self.h2.acknowledge_received_data(event.flow_controlled_length or 0, 1)
            elif isinstance(event, events.PingReceived):
                self.pings += 1
            elif isinstance(event, events.PingAckReceived):
                self.answered.append(event.ping_data or b"")
        if not self.is_silent:
            self.flush()

    def send(self, data: bytes) -> None:
        """Send as much as the client's window permits, and the rest when it opens."""
        self._unsent += data
        self.flush()

    def flush(self) -> None:
        while self._unsent and (size := min(len(self._unsent), self.window, self.h2.max_outbound_frame_size)):
            self.h2.send_data(1, self._unsent[:size])
            self._unsent = self._unsent[size:]
        self.transport.write(self.h2.data_to_send())

    @property
    def window(self) -> int:
        return self.h2.local_flow_control_window(1)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[H2Server]:
    """On a Unix socket, for one connection."""
    protocol = H2Server()
    listening = await asyncio.get_running_loop().create_unix_server(lambda: protocol, str(tmp_path / "socket"))
    yield protocol
    listening.close()
    protocol.transport.close()


@pytest.fixture
async def stream(server: H2Server, tmp_path: Path) -> AsyncIterator[GrpcStream]:
    stream = await connect(f"unix://{tmp_path / 'socket'}")
    await until(lambda: bool(server.request))
    yield stream
    stream.cancel()


async def connect(endpoint: str, *, keepalive: float = 10.0) -> GrpcStream:
    config = EtcdConfig(endpoints=[endpoint], keepalive=keepalive, keepalive_timeout=keepalive)
    metadata = (("hasleader", "true"), ("token", "t"))
    dialer = MemberDialer(parse_endpoint(endpoint), config, Credentials(Tls()))
    return await dialer.open_stream(METHOD, metadata)


class Reading:
    """Reads a stream in the background."""

    def __init__(self, stream: GrpcStream) -> None:
        self.messages: list[bytes] = []
        self.hand_overs = 0
        self.task = asyncio.create_task(stream.receive(self._take))

    def _take(self, messages: list[bytes]) -> None:
        self.messages += messages
        self.hand_overs += 1

    async def until(self, count: int) -> list[bytes]:
        """The first messages, so many."""
        await until(lambda: len(self.messages) >= count)
        return self.messages


async def failure_of(stream: GrpcStream) -> tuple[Code, str]:
    with pytest.raises(RpcFailed) as failure:
        await stream.receive(lambda _: None)
    return failure.value.code, failure.value.details


class TestMessages:
    async def test_the_request_names_method_and_metadata(self, stream: GrpcStream, server: H2Server) -> None:
        assert server.request[":path"] == METHOD
        assert (server.request["hasleader"], server.request["token"]) == ("true", "t")
        assert (server.request["te"], server.request["content-type"]) == ("trailers", "application/grpc")

    async def test_messages_of_one_frame_are_handed_over_at_once(self, stream: GrpcStream, server: H2Server) -> None:
        messages = [b"%d" % number for number in range(300)]
        reading = Reading(stream)

        server.send(framed(*messages))

        assert await reading.until(300) == messages
        assert reading.hand_overs <= 2

    async def test_a_message_that_comes_in_pieces_is_whole(self, stream: GrpcStream, server: H2Server) -> None:
        reading = Reading(stream)

        for byte in framed(b"one", b"two"):
            server.send(bytes([byte]))
            await asyncio.sleep(0)

        assert await reading.until(2) == [b"one", b"two"]

    async def test_a_message_may_be_larger_than_the_window(self, stream: GrpcStream, server: H2Server) -> None:
        server.send(framed(bytes(4 * WINDOW)))

        (message,) = await Reading(stream).until(1)

        assert len(message) == 4 * WINDOW

    async def test_a_stream_without_a_reader_holds_the_server_back(self, stream: GrpcStream, server: H2Server) -> None:
        server.send(framed(bytes(1000)) * 3000)
        await until(lambda: server.window == 0)

        messages = await Reading(stream).until(3000)

        assert messages == [bytes(1000)] * 3000

    async def test_a_reader_that_refuses_a_message_ends_the_stream(self, stream: GrpcStream, server: H2Server) -> None:
        def refuse(_messages: list[bytes]) -> None:
            raise ValueError("not wanted")

        server.send(framed(b"one"))

        with pytest.raises(ValueError, match="not wanted"):
            await stream.receive(refuse)

    async def test_writes_wait_for_the_servers_window(self, stream: GrpcStream, server: H2Server) -> None:
        message = bytes(range(256)) * 1024

        stream.write(message)

        await until(lambda: server.received == framed(message))


class TestEnds:
    async def test_a_refusal_is_what_grpc_calls_it(self, stream: GrpcStream, server: H2Server) -> None:
        server.h2.send_headers(1, [("grpc-status", "16"), ("grpc-message", "invalid%20auth token")], end_stream=True)
        server.flush()

        assert await failure_of(stream) == (Code.UNAUTHENTICATED, "invalid auth token")

    async def test_a_good_end_comes_behind_the_last_message(self, stream: GrpcStream, server: H2Server) -> None:
        server.send(framed(b"last"))
        server.h2.send_headers(1, [("grpc-status", "0")], end_stream=True)
        server.flush()

        reading = Reading(stream)
        await reading.task

        assert reading.messages == [b"last"]

    async def test_an_end_without_a_status_is_a_failure(self, stream: GrpcStream, server: H2Server) -> None:
        server.h2.end_stream(1)
        server.flush()

        assert await failure_of(stream) == (Code.UNKNOWN, "HTTP status 200")

    async def test_a_stream_that_the_server_breaks_off_is_a_failure(self, stream: GrpcStream, server: H2Server) -> None:
        server.h2.reset_stream(1)
        server.flush()

        assert (await failure_of(stream))[0] is Code.UNAVAILABLE

    async def test_a_lost_connection_is_a_failure(self, stream: GrpcStream, server: H2Server) -> None:
        server.transport.abort()

        assert (await failure_of(stream))[0] is Code.UNAVAILABLE

    async def test_a_stream_that_was_given_up_tells_its_reader(self, stream: GrpcStream) -> None:
        reading = asyncio.create_task(failure_of(stream))
        await asyncio.sleep(0)

        stream.cancel()
        stream.write(b"too late")

        assert await reading == (Code.CANCELLED, "the stream was given up")

    async def test_a_server_that_breaks_the_rules_of_http_2_is_left(self, stream: GrpcStream, server: H2Server) -> None:
        server.transport.write(bytes(9))  # an empty DATA frame of no stream

        code, details = await failure_of(stream)

        assert code is Code.UNAVAILABLE
        assert "does not speak HTTP/2" in details

    async def test_a_server_that_says_nothing_is_left(self, server: H2Server, tmp_path: Path) -> None:
        stream = await connect(f"unix://{tmp_path / 'socket'}", keepalive=0.05)
        server.is_silent = True

        assert await failure_of(stream) == (Code.UNAVAILABLE, "keepalive: the server has gone silent")

    async def test_a_server_that_answers_probes_stays(self, server: H2Server, tmp_path: Path) -> None:
        stream = await connect(f"unix://{tmp_path / 'socket'}", keepalive=0.02)
        reading = Reading(stream)
        await until(lambda: server.pings >= 3)

        server.send(framed(b"still here"))

        assert await reading.until(1) == [b"still here"]
        stream.cancel()

    async def test_probes_of_the_server_are_answered_though_nothing_else_is_sent(
        self, stream: GrpcStream, server: H2Server
    ) -> None:
        server.h2.ping(b"8 octets")
        server.flush()
        await until(lambda: len(server.answered) == 1)

        server.h2.ping(b"8 others")
        server.flush()
        await until(lambda: len(server.answered) == 2)

        assert server.answered == [b"8 octets", b"8 others"]

    async def test_nobody_who_listens_is_a_failure_to_connect(self, tmp_path: Path) -> None:
        with pytest.raises(RpcFailed, match="failed to connect to all addresses"):
            await connect(f"unix://{tmp_path / 'socket'}")


def test_it_works_on_uvloop_too(tmp_path: Path) -> None:
    async def echo() -> list[bytes]:
        protocol = H2Server()
        path = str(tmp_path / "socket")
        listening = await asyncio.get_running_loop().create_unix_server(lambda: protocol, path)
        stream = await connect(f"unix://{path}")
        await until(lambda: bool(protocol.request))
        protocol.send(framed(b"one"))
        messages = await Reading(stream).until(1)
        stream.cancel()
        listening.close()
        return messages

    assert uvloop.run(echo()) == [b"one"]


def test_headers_which_carry_the_token_reach_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    assert not logging.getLogger("hpack.any").isEnabledFor(logging.DEBUG)
