"""gRPC calls against a server that speaks HTTP/2 by h2: responses, failures, HTTP/2's limits, and what was not sent."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import cast

import pytest
from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.settings import SettingCodes

from aio_apiserver.storage.etcd_config import EtcdConfig, Tls, parse_endpoint
from aio_apiserver.storage.kv.etcd import failures
from aio_apiserver.storage.kv.etcd.channel import Credentials, MemberDialer
from aio_apiserver.storage.kv.etcd.failures import Effect
from aio_apiserver.storage.kv.etcd.grpc_calls import GrpcCalls
from aio_apiserver.storage.kv.etcd.grpc_status import Code, RpcFailed
from aio_apiserver.storage.kv.etcd.http2 import WINDOW
from tests.storage.kv.etcd_cluster import until

METHOD = "/etcdserverpb.KV/Range"
METADATA = (("token", "t"),)
HEADERS = [(":status", "200"), ("content-type", "application/grpc")]
OK = [("grpc-status", "0"), ("grpc-message", "")]


def framed(message: bytes) -> bytes:
    return b"\0" + len(message).to_bytes(4, "big") + message


class EchoServer(asyncio.Protocol):
    """One connection to a server that answers each call with its request, unless `answers` says otherwise."""

    def __init__(self, owner: "Echo") -> None:
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.owner = owner
        self.requests: dict[int, bytes] = {}
        self._unsent: dict[int, bytes] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.h2.initiate_connection()
        self.h2.update_settings(self.owner.settings)
        self.owner.connections.append(self)
        self.flush()

    def data_received(self, data: bytes) -> None:
        for event in self.h2.receive_data(data):
            if isinstance(event, events.RequestReceived):
                assert event.stream_id is not None
                self.requests[event.stream_id] = b""
                self.owner.most_at_once = max(self.owner.most_at_once, self.h2.open_inbound_streams)
            elif isinstance(event, events.DataReceived):
                assert event.stream_id is not None
                self.requests[event.stream_id] += event.data or b""
                self.h2.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id)
            elif isinstance(event, events.StreamEnded):
                assert event.stream_id is not None
                self.owner.answer(self, event.stream_id)
            elif isinstance(event, events.StreamReset):
                self.owner.resets.append(int(event.error_code or 0))
        self.flush()

    def echo(self, stream: int) -> None:
        self.h2.send_headers(stream, HEADERS)
        self._unsent[stream] = self.requests[stream]
        self.flush()

    def refuse(self, stream: int, headers: list[tuple[str, str]]) -> None:
        self.h2.send_headers(stream, headers, end_stream=True)
        self.flush()

    def flush(self) -> None:
        for stream, data in list(self._unsent.items()):
            while data and (size := min(len(data), self.h2.local_flow_control_window(stream), 16_384)):
                self.h2.send_data(stream, data[:size])
                data = data[size:]
            self._unsent[stream] = data
            if not data:
                del self._unsent[stream]
                self.h2.send_headers(stream, OK, end_stream=True)
        self.transport.write(self.h2.data_to_send())


class Echo:
    """The server, with what it has seen."""

    def __init__(self) -> None:
        self.settings: dict[int | SettingCodes, int] = {}
        self.answer: Callable[[EchoServer, int], None] = EchoServer.echo
        self.connections: list[EchoServer] = []
        self.resets: list[int] = []
        self.most_at_once = 0


def silence(_connection: EchoServer, _stream: int) -> None:
    """Gives no answer."""


@pytest.fixture
async def echo(tmp_path: Path) -> AsyncIterator[Echo]:
    server = Echo()
    loop = asyncio.get_running_loop()
    listening = await loop.create_unix_server(lambda: EchoServer(server), str(tmp_path / "socket"))
    yield server
    listening.close()
    for connection in server.connections:
        connection.transport.close()


@pytest.fixture
async def calls(echo: Echo, tmp_path: Path) -> AsyncIterator[GrpcCalls]:
    endpoint = f"unix://{tmp_path / 'socket'}"
    calls = GrpcCalls(MemberDialer(parse_endpoint(endpoint), EtcdConfig(endpoints=[endpoint]), Credentials(Tls())))
    yield calls
    await calls.close()


async def call(calls: GrpcCalls, request: bytes = b"request", *, seconds: float = 20) -> bytes:
    return await calls.call(METHOD, request, timeout=seconds, metadata=METADATA)


async def failure_of(calls: GrpcCalls, *, seconds: float = 20) -> RpcFailed:
    with pytest.raises(RpcFailed) as failure:
        await call(calls, seconds=seconds)
    return failure.value


class TestResponses:
    async def test_calls_share_one_connection(self, calls: GrpcCalls, echo: Echo) -> None:
        requests = [b"%d" % number for number in range(200)]

        answers = await asyncio.gather(*[call(calls, request) for request in requests])

        assert answers == requests
        assert len(echo.connections) == 1

    async def test_messages_larger_than_all_windows_come_whole(self, calls: GrpcCalls) -> None:
        requests = [bytes([number]) * (WINDOW + 12_345) for number in range(3)]

        assert await asyncio.gather(*[call(calls, request) for request in requests]) == requests

    async def test_the_servers_limit_of_streams_is_kept(self, calls: GrpcCalls, echo: Echo) -> None:
        echo.settings = {SettingCodes.MAX_CONCURRENT_STREAMS: 2}
        requests = [b"%d" % number for number in range(20)]

        assert await asyncio.gather(*[call(calls, request) for request in requests]) == requests
        assert echo.most_at_once == 2

    async def test_a_lost_connection_is_made_anew(self, calls: GrpcCalls, echo: Echo) -> None:
        await call(calls)
        echo.connections[0].transport.abort()
        await until(lambda: calls.connection is None)

        assert await call(calls) == b"request"
        assert len(echo.connections) == 2


class TestFailures:
    async def test_a_refusal_has_code_and_message(self, calls: GrpcCalls, echo: Echo) -> None:
        echo.answer = lambda connection, stream: connection.refuse(
            stream, [*HEADERS, ("grpc-status", "16"), ("grpc-message", "invalid%20auth token")]
        )

        failure = await failure_of(calls)

        assert (failure.code, failure.details) == (Code.UNAUTHENTICATED, "invalid auth token")

    async def test_a_page_of_a_proxy_is_a_failure(self, calls: GrpcCalls, echo: Echo) -> None:
        echo.answer = lambda connection, stream: connection.refuse(stream, [(":status", "503")])

        failure = await failure_of(calls)

        assert (failure.code, failure.details) == (Code.UNAVAILABLE, "HTTP status 503")

    async def test_a_call_without_an_answer_in_time_is_cancelled(self, calls: GrpcCalls, echo: Echo) -> None:
        await call(calls)  # from now on there is a connection
        echo.answer = silence

        failure = await failure_of(calls, seconds=0.05)

        assert failure.code is Code.DEADLINE_EXCEEDED
        await until(lambda: bool(echo.resets))

    async def test_a_caller_that_leaves_cancels_its_call(self, calls: GrpcCalls, echo: Echo) -> None:
        echo.answer = silence
        calling = asyncio.create_task(call(calls))
        await until(lambda: bool(echo.connections and echo.connections[0].requests))

        calling.cancel()

        await until(lambda: bool(echo.resets))
        echo.answer = EchoServer.echo
        assert await call(calls) == b"request"

    async def test_calls_of_which_one_cannot_be_made_are_all_cancelled(self, calls: GrpcCalls, echo: Echo) -> None:
        await call(calls)
        echo.answer = silence

        with pytest.raises(UnicodeEncodeError):
            await calls.call_together([(METHOD, b"one"), ("/\udc80", b"two")], timeout=20, metadata=METADATA)

        await until(lambda: bool(echo.resets))

    async def test_calls_together_open_no_connection(self, calls: GrpcCalls, echo: Echo) -> None:
        with pytest.raises(RpcFailed) as failure:
            await calls.call_together([(METHOD, b"one")], timeout=20, metadata=METADATA)

        assert failures.of_exception(failure.value).effect is Effect.RETRY
        assert echo.connections == []

    async def test_a_call_on_a_lost_connection_may_have_had_an_effect(self, calls: GrpcCalls, echo: Echo) -> None:
        echo.answer = lambda connection, _: connection.transport.abort()

        assert failures.of_exception(await failure_of(calls)).effect is Effect.UNKNOWN

    async def test_a_call_that_the_server_did_not_take_had_none(self, calls: GrpcCalls, echo: Echo) -> None:
        echo.answer = lambda connection, stream: connection.h2.reset_stream(stream, 7)

        assert failures.of_exception(await failure_of(calls)).effect is Effect.RETRY

    async def test_a_server_that_leaves_answers_what_it_has_taken(self, calls: GrpcCalls, echo: Echo) -> None:
        echo.answer = silence
        taken = asyncio.create_task(call(calls))
        await until(lambda: bool(echo.connections and echo.connections[0].requests))
        (connection,) = echo.connections

        connection.transport.write(goaway(last_stream=1))
        await until(lambda: calls.connection is None)
        echo.answer = EchoServer.echo
        other = await call(calls, b"other")
        connection.echo(1)

        assert (await taken, other) == (b"request", b"other")
        assert len(echo.connections) == 2

    async def test_a_call_behind_the_last_taken_one_had_no_effect(self, calls: GrpcCalls, echo: Echo) -> None:
        echo.answer = lambda connection, _: connection.transport.write(goaway(last_stream=0))

        assert failures.of_exception(await failure_of(calls)).effect is Effect.RETRY


def goaway(*, last_stream: int) -> bytes:
    """The frame with which a server announces its end; h2 would send nothing behind it."""
    return b"\x00\x00\x08\x07\x00\x00\x00\x00\x00" + last_stream.to_bytes(4, "big") + bytes(4)
