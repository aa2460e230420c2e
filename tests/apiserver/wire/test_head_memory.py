"""Long heads of all connections together stay below one limit, and are freed behind their responses."""

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from aio_apiserver.apiserver.wire.head_memory import HeadMemory
from aio_apiserver.apiserver.wire.served_requests import ServedRequest
from tests.apiserver.serving import LOOPBACK, Answer, connecting, read_answer

FIELDS = b"".join(b"Field-%d: value\r\n" % number for number in range(200))
LONG = b"GET / HTTP/1.1\r\nHost: h\r\n" + FIELDS
SHORT = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
ENOUGH_FOR_TWO = 220_000

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def answer_ok(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text=request.headers.get("Field-199", "no field"))


@asynccontextmanager
async def clients(port: int, count: int) -> AsyncIterator[Sequence[Connection]]:
    opened = [await asyncio.open_connection(LOOPBACK, port) for _ in range(count)]
    yield opened
    for _, writer in opened:
        writer.close()
    await asyncio.gather(*(writer.wait_closed() for _, writer in opened), return_exceptions=True)


async def until_held(heads: HeadMemory, number: int) -> None:
    """Return when so many long heads are held."""
    while heads.statistics()["connections"] != number:  # noqa: ASYNC110 - nothing tells it
        await asyncio.sleep(0)


async def say(connection: Connection, sent: bytes) -> Answer:
    """Send bytes, and read a response."""
    reader, writer = connection
    writer.write(sent)
    return await read_answer(reader)


async def test_the_head_that_has_not_ended_for_the_longest_time_makes_room() -> None:
    heads = HeadMemory(ENOUGH_FOR_TWO)

    async with connecting(answer_ok, heads=heads) as listener, clients(listener.port, 3) as (oldest, newer, newest):
        for number, (_, writer) in enumerate((oldest, newer), 1):
            writer.write(LONG)
            await until_held(heads, number)
        newest[1].write(LONG)
        refused = await read_answer(oldest[0])
        others = [await say(newest, b"\r\n"), await say(newer, b"\r\n")]

    assert (refused.status, refused.text) == (431, "431 Request Header Fields Too Large")
    assert [answer.text for answer in others] == ["value", "value"]
    assert heads.statistics() == {"connections": 0, "bytes": 0, "refused": 1}


async def test_a_short_head_needs_no_room() -> None:
    heads = HeadMemory(0)

    async with connecting(answer_ok, heads=heads) as listener, clients(listener.port, 1) as (client,):
        answers = [await say(client, SHORT) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 200]


async def test_a_head_that_runs_is_aborted_when_others_need_its_room() -> None:
    heads, running = HeadMemory(ENOUGH_FOR_TWO), asyncio.Event()

    async def wait(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "PUT":
            await running.wait()
        return await answer_ok(request)

    async with connecting(wait, heads=heads) as listener, clients(listener.port, 3) as (first, *others):
        first[1].write(LONG.replace(b"GET", b"PUT") + b"\r\n")
        await until_held(heads, 1)
        for _, writer in others:
            writer.write(LONG)
        ended = await first[0].read()
        answers = [await say(client, b"\r\n") for client in others]

    assert ended == b""
    assert [answer.text for answer in answers] == ["value", "value"]


@pytest.mark.parametrize(
    ("sent", "is_kept"),
    [
        pytest.param([LONG + b"\r\n"], True, id="a head"),
        pytest.param([LONG + b"Content-Length: 4\r\n\r\nbody"], True, id="a head with a body"),
        pytest.param([LONG, b"\r\n"], False, id="a head in pieces"),
        pytest.param([LONG + b"Content-Length: 4\r\n\r\nb"], False, id="a body that was not read"),
        pytest.param([LONG + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"], False, id="a body of chunks"),
        pytest.param([LONG.replace(b"GET", b"FOO") + b"\r\n"], False, id="a method that aiohttp does not know"),
        pytest.param([LONG + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"], False, id="a refused upgrade"),
    ],
)
async def test_a_long_head_is_freed_behind_its_response(sent: Sequence[bytes], *, is_kept: bool) -> None:
    heads, kept = HeadMemory(), list[ServedRequest]()

    async def keep(request: web.BaseRequest) -> web.StreamResponse:
        assert isinstance(request, ServedRequest)
        kept.append(request)
        return await answer_ok(request)

    async with connecting(keep, heads=heads) as listener, clients(listener.port, 1) as ((reader, writer),):
        for piece in sent:
            writer.write(piece)
            if piece is LONG:
                await until_held(heads, 1)
        answer = await read_answer(reader)
        if is_kept:
            again = await say((reader, writer), LONG + b"\r\n")
            assert again.text == "value"
        await until_held(heads, 0)

        assert (answer.text, answer.headers.get("connection")) == ("value", None if is_kept else "close")
        assert not kept[0].headers
        assert not await asyncio.to_thread(fields_in_memory)


def fields_in_memory() -> int:
    """How many parsed heads have the last one of the many fields."""
    return sum(
        isinstance(one, tuple) and bool(one) and one[0] == b"Field-199" and len(one) == 2 for one in gc.get_objects()
    )


async def test_requests_behind_a_long_head_are_answered_in_their_order() -> None:
    heads = HeadMemory()

    async with connecting(answer_ok, heads=heads) as listener, clients(listener.port, 1) as ((reader, writer),):
        writer.write(LONG + b"\r\n")
        first = await read_answer(reader)
        writer.write(SHORT)
        second = await read_answer(reader)

    assert [first.text, second.text] == ["value", "no field"]
