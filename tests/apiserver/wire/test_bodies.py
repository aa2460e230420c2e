import asyncio

import pytest
from aiohttp import web

from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.wire import bodies, responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.request_memory import RequestMemory
from tests.apiserver.serving import LOOPBACK, ask, exchange, listening, read_answer


async def count(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    """Answers with the size of the body."""
    return responses.text(context, str(len(await bodies.read(request))))


@pytest.mark.parametrize("size", [0, 1, 100_000, bodies.LIMIT])
async def test_reads_bodies_up_to_the_limit(size: int) -> None:
    async with listening(count, with_errors) as listener:
        answer = await ask(listener.port, "/", method="POST", body=b"x" * size)

    assert answer.text == str(size)


async def test_one_byte_more_is_too_large() -> None:
    async with listening(count, with_errors) as listener:
        answer = await ask(listener.port, "/", method="POST", body=b"x" * (bodies.LIMIT + 1))

    assert answer.status == 413
    assert answer.json == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Request entity too large: limit is 3145728",
        "reason": "RequestEntityTooLarge",
        "code": 413,
    }


async def test_a_length_that_is_too_large_is_refused_before_the_body() -> None:
    head = f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {bodies.LIMIT + 1}\r\n\r\n"

    async with listening(count, with_errors) as listener:
        (answer,) = await exchange(listener.port, head.encode())

    assert answer.status == 413


async def test_chunks_count_as_well() -> None:
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"

    async with listening(count, with_errors) as listener:
        head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        (small,) = await exchange(listener.port, head + chunk * 3 + b"0\r\n\r\n")
        (large,) = await exchange(listener.port, head + chunk * 3 + b"1\r\nx\r\n0\r\n\r\n")

    assert (small.text, large.status) == (str(bodies.LIMIT), 413)


async def test_a_broken_transfer_encoding_is_a_bad_request() -> None:
    async with listening(count, with_errors) as listener:
        head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        (answer,) = await exchange(listener.port, head + b"nonsense\r\n")

    assert answer.status == 400


async def test_a_compressed_body_is_not_unpacked() -> None:
    async with listening(count, with_errors) as listener:
        answer = await ask(listener.port, "/", method="POST", body=b"not gzip", headers={"Content-Encoding": "gzip"})

    assert answer.text == "8"


async def count_late(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    """The same behind flow control, which waits for the body."""
    async with bodies.EarlyBodies(RequestMemory(), RequestMemory()).read(request, "jane"):
        return await count(request, context)


@pytest.mark.parametrize("handler", [count, count_late])
async def test_a_client_that_waits_is_told_to_go_on(handler: Handler) -> None:
    async with listening(handler, with_errors) as listener:
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        interim = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"abc")
        answer = await read_answer(reader)
        writer.close()
        await writer.wait_closed()

    assert interim == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert answer.text == "3"


@pytest.mark.parametrize("handler", [count, count_late])
async def test_a_client_that_waits_with_a_body_that_is_too_large_is_refused_at_once(handler: Handler) -> None:
    head = f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {bodies.LIMIT + 1}\r\nExpect: 100-continue\r\n\r\n"

    async with listening(handler, with_errors) as listener:
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(head.encode())
        status = await reader.readline()
        writer.close()
        await writer.wait_closed()

    assert status.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("size", [0, 1, 65_536, 100_000, bodies.LIMIT])
async def test_a_body_whose_beginning_came_first_is_read_whole(size: int) -> None:
    async with listening(count_late, with_errors) as listener:
        answer = await ask(listener.port, "/", method="POST", body=b"x" * size)
        too_large = await ask(listener.port, "/", method="POST", body=b"x" * (bodies.LIMIT + 1))

    assert (answer.text, too_large.status) == (str(size), 413)


async def test_a_broken_body_whose_beginning_came_first_is_malformed() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nno size\r\n"

    async with listening(count_late, with_errors) as listener:
        (answer,) = await exchange(listener.port, head)

    assert answer.status == 400


async def test_a_body_whose_beginning_came_first_is_streamed_whole() -> None:
    async def echo(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        async with bodies.EarlyBodies(RequestMemory(), RequestMemory()).read(request, "jane"):
            chunks = [chunk async for chunk in bodies.stream(request, 10_000)]
        return responses.text(context, f"{max(map(len, chunks))} {sum(map(len, chunks))}")

    async with listening(echo, with_errors) as listener:
        answer = await ask(listener.port, "/", method="POST", body=b"x" * 200_000)

    assert answer.text == "10000 200000"


async def test_a_long_body_without_memory_is_not_read() -> None:
    early, found = bodies.EarlyBodies(RequestMemory(total=100_000, seconds=0.01), RequestMemory()), list[bool]()

    async def read(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        async with early.read(request, "jane") as is_read:
            found.append(is_read)
            return await count(request, context) if is_read else responses.text(context, "no", status=429)

    async with listening(read, with_errors) as listener:
        answers = [
            await ask(listener.port, "/", method="POST", body=b"x" * size) for size in (100_000, bodies.LIMIT, 60_000)
        ]

    assert found == [True, False, True]
    assert [answer.text for answer in answers] == ["100000", "no", "60000"]
