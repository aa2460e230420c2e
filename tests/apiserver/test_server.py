import asyncio
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import web

from aio_apiserver.apiserver import server
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.listeners import Listener
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.base.clock import ManualClock
from tests.apiserver.serving import (
    LOOPBACK,
    as_admin,
    ask,
    listening,
    read_answer,
    running,
    trusting,
)


def open_sockets() -> set[str]:
    """The open sockets of this process."""
    names = set()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            names.add(str(link.readlink()))
    return {name for name in names if name.startswith("socket:")}


async def test_starting_and_stopping_leaves_nothing(tmp_path: Path) -> None:
    before = open_sockets()

    for _ in range(20):
        async with running(tmp_path) as started:
            assert (await ask(started.secure.port, "/readyz", tls=as_admin(started))).text == "ok"

    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert open_sockets() <= before


async def test_a_port_that_is_taken_ends_the_start_and_leaves_nothing(tmp_path: Path) -> None:
    before = open_sockets()

    with socket.create_server((LOOPBACK, 0)) as taken:
        settings = Settings(
            data_dir=tmp_path,
            storage_backend="memory",
            bind_address=LOOPBACK,
            secure_port=0,
            insecure_port=taken.getsockname()[1],
        )
        with pytest.raises(OSError, match="in use"):
            await server.start(settings)

    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert open_sockets() <= before


async def test_a_token_file_that_is_none_ends_the_start(tmp_path: Path) -> None:
    path = tmp_path / "tokens.csv"
    path.write_text("one,two\n")

    with pytest.raises(ValueError, match="must have at least 3 columns"):
        await server.start(Settings(data_dir=tmp_path, storage_backend="memory", token_auth_file=path))


async def test_it_is_not_ready_before_its_start_is_complete(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, storage_backend="memory", bind_address=LOOPBACK, secure_port=0)
    started = await server.start(settings)

    before = await ask(started.secure.port, "/readyz", tls=as_admin(started))
    await started.wait_until_ready()
    after = await ask(started.secure.port, "/readyz", tls=as_admin(started))
    await started.stop()

    assert (before.status, after.status) == (500, 200)


async def test_it_serves_on_after_the_announcement_and_not_after_the_delay(tmp_path: Path) -> None:
    clock = ManualClock(time.time())  # certificates are checked by the real one
    settings = Settings(
        data_dir=tmp_path,
        storage_backend="memory",
        bind_address=LOOPBACK,
        secure_port=0,
        shutdown_delay_duration=30,
    )
    started = await server.start(settings, clock=clock)
    await started.wait_until_ready()

    stopping = asyncio.create_task(started.stop())
    await asyncio.sleep(0)
    live = await ask(started.secure.port, "/livez", tls=trusting(started))
    ready = await ask(started.secure.port, "/readyz", tls=trusting(started))
    clock.advance(30)
    await stopping

    assert (live.status, ready.status) == (200, 500)
    with pytest.raises(ConnectionRefusedError):
        await ask(started.secure.port, "/livez", tls=trusting(started))


async def test_a_stop_that_is_cancelled_closes_everything(tmp_path: Path) -> None:
    before = open_sockets()
    settings = Settings(
        data_dir=tmp_path,
        storage_backend="memory",
        bind_address=LOOPBACK,
        secure_port=0,
        shutdown_delay_duration=600,
    )
    started = await server.start(settings)

    stopping = asyncio.create_task(started.stop())
    await until(lambda: started.parts.draining.is_announced)
    stopping.cancel()
    await asyncio.wait([stopping])

    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert open_sockets() <= before


async def test_it_listens_on_both_families(tmp_path: Path) -> None:
    async with running(tmp_path, bind_address="0.0.0.0") as started:  # noqa: S104
        for address in (LOOPBACK, "::1"):
            _, writer = await asyncio.open_connection(address, started.secure.port, ssl=trusting(started))
            writer.close()
            await writer.wait_closed()


async def test_two_servers_can_share_a_port(tmp_path: Path) -> None:
    async with running(tmp_path / "a", permit_port_sharing=True) as one:
        port = one.secure.port
        async with running(tmp_path / "b", permit_port_sharing=True, secure_port=port) as other:
            assert other.secure.port == port


class Streams:
    """Endless responses, which end when the server drains."""

    def __init__(self, draining: Draining) -> None:
        self.draining = draining
        self.open = 0

    async def handle(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        response = web.StreamResponse(headers=responses.headers(context, responses.JSON))
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(b"{}\n")
        over = asyncio.Event()
        self.draining.subscribe(over.set)
        self.open += 1
        try:
            await over.wait()
        finally:
            self.open -= 1
            self.draining.unsubscribe(over.set)
        await response.write_eof()
        return response


async def opened(listener: Listener, count: int) -> list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """So many streams that have begun."""
    streams = [await asyncio.open_connection(LOOPBACK, listener.port) for _ in range(count)]
    for _, writer in streams:
        writer.write(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
    for reader, _ in streams:
        await reader.readuntil(b"{}\n\r\n")
    return streams


async def test_500_streams_end_cleanly_when_the_server_drains() -> None:
    draining = Draining()
    streams = Streams(draining)

    async with listening(streams.handle) as listener:
        clients = await opened(listener, 500)
        assert (streams.open, listener.open_connections) == (500, 500)
        listener.stop_accepting()
        draining.begin()
        ends = await asyncio.gather(*(reader.read() for reader, _ in clients))
        await listener.close(1)

    assert set(ends) == {b"0\r\n\r\n"}
    assert (streams.open, listener.open_connections) == (0, 0)
    for _, writer in clients:
        writer.close()
    await asyncio.gather(*(writer.wait_closed() for _, writer in clients), return_exceptions=True)


async def test_streams_that_do_not_end_are_ended() -> None:
    streams = Streams(Draining())

    async with listening(streams.handle) as listener:
        clients = await opened(listener, 5)
        await listener.close(0.05)
        ends = await asyncio.gather(*(reader.read() for reader, _ in clients), return_exceptions=True)

    assert streams.open == 0
    assert b"0\r\n\r\n" not in ends
    for _, writer in clients:
        writer.close()
    await asyncio.gather(*(writer.wait_closed() for _, writer in clients), return_exceptions=True)


async def test_a_client_that_leaves_ends_its_request() -> None:
    entered, left = asyncio.Event(), asyncio.Event()

    async def wait(_request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()
        raise AssertionError

    async with listening(wait) as listener:
        _, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await entered.wait()
        writer.close()
        await writer.wait_closed()
        await left.wait()


async def test_requests_under_way_finish_when_the_server_stops(tmp_path: Path) -> None:
    async with running(tmp_path) as started:
        tls = trusting(started)
        reader, writer = await asyncio.open_connection(LOOPBACK, started.secure.port, ssl=tls)
        head = b"POST /api/v1/namespaces HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        body = b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"late"}}'
        auth = f"Authorization: Bearer {started.pki.admin_token}\r\n".encode()
        writer.write(head + auth + b"Content-Length: %d\r\n\r\n" % len(body))
        await until(lambda: started.parts.limits.deadlines.running == 1)

        stopping = asyncio.create_task(started.stop())
        await until(lambda: started.parts.draining.has_begun)
        writer.write(body)
        answer = await read_answer(reader)
        await stopping
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    assert answer.status == 201
    assert answer.headers["connection"] == "close"


async def test_a_connection_carries_the_next_request_when_its_client_was_not_told_that_it_closes(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, shutdown_watch_termination_grace_period=10.0) as started:
        auth = f"Authorization: Bearer {started.pki.admin_token}\r\n".encode()
        request, watch = (
            b"GET /api/v1/nodes%b HTTP/1.1\r\nHost: a\r\n%b\r\n" % (query, auth) for query in (b"", b"?watch=1")
        )
        tls = trusting(started)
        (idle, to_idle), (watching, to_watching) = [
            await asyncio.open_connection(LOOPBACK, started.secure.port, ssl=tls) for _ in range(2)
        ]
        to_idle.write(request)
        before = await read_answer(idle)
        to_watching.write(watch)
        head = await watching.readuntil(b"\r\n\r\n")

        stopping = asyncio.create_task(started.stop())
        await watching.readuntil(b"0\r\n\r\n")
        to_watching.write(request)
        to_idle.write(watch)
        answer, last_watch = await read_answer(watching), await idle.read()
        await stopping
        for writer in (to_idle, to_watching):
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in (to_idle, to_watching)), return_exceptions=True)

    assert "connection" not in before.headers
    assert b"Connection" not in head
    assert (answer.status, answer.headers["connection"]) == (200, "close")
    assert b"Connection: close" in last_watch
    assert last_watch.endswith(b"0\r\n\r\n")


async def until(condition: Callable[[], bool]) -> None:
    """Run the event loop until a condition holds."""
    while not condition():  # noqa: ASYNC110 nothing tells when
        await asyncio.sleep(0)
