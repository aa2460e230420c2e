"""Requests get memory for their long heads and their bodies, or 429."""

import asyncio
from collections.abc import Mapping
from functools import partial

import pytest
from aiohttp import web
from msgspec.structs import replace

from aio_apiserver.apiserver.filters import request_memory
from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.filters.request_info import with_request_info
from aio_apiserver.apiserver.wire import bodies, responses
from aio_apiserver.apiserver.wire.context import Filter, Handler, RequestContext, compose
from aio_apiserver.apiserver.wire.request_memory import RequestMemory
from aio_apiserver.registry.generic.access.users import ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, UserInfo
from tests.apiserver.serving import LOOPBACK, Answer, ask, listening, read_answer

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
LONG_HEAD = {f"Field-{number}": "value" for number in range(200)}
JANE = UserInfo(name="jane", groups=(ALL_AUTHENTICATED,))
ANONYMOUS = UserInfo(name="system:anonymous", groups=(ALL_UNAUTHENTICATED,))


def filters(
    memory: RequestMemory,
    refused: list[RequestContext],
    user: UserInfo,
    *inner: Filter,
    objects: RequestMemory | None = None,
) -> tuple[Filter, ...]:
    remembering = partial(
        request_memory.RequestMemoryFilter,
        authorize=partial(compose, inner),
        memory=memory,
        objects=objects or RequestMemory(),
        on_refused=refused.append,
    )
    return with_request_info, with_errors, partial(as_user, user=user), remembering, *inner


def as_user(handler: Handler, user: UserInfo) -> Handler:
    async def known(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return await handler(request, replace(context, user=user))

    return known


async def count(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    return responses.text(context, str(len(await bodies.read(request))))


@pytest.mark.parametrize(
    ("headers", "method"), [pytest.param(LONG_HEAD, "GET", id="head"), pytest.param({}, "POST", id="body")]
)
async def test_a_user_without_memory_is_asked_to_come_again(headers: Mapping[str, str], method: str) -> None:
    memory, refused = RequestMemory(total=1 << 20, per_user=200_000, seconds=0), list[RequestContext]()
    assert memory.take_at_once("jane", 190_000)

    async with listening(count, *filters(memory, refused, JANE)) as listener:
        answer = await send(listener.port, method, headers)
        memory.give_back("jane", 190_000)
        later = await send(listener.port, method, headers)

    assert answer.status == 429, answer
    assert (answer.status, answer.headers["retry-after"], answer.headers["connection"]) == (429, "1", "close")
    assert [context.user.name for context in refused] == ["jane"]
    assert later.status == 200
    assert memory.statistics()["bytes"] == 0


async def send(port: int, method: str, headers: Mapping[str, str]) -> Answer:
    """A request whose body comes behind its head."""
    body = b"x" * 100_000 if method == "POST" else b""
    return await ask(port, CONFIG_MAPS, method=method, headers=headers, body=body)


async def test_a_body_that_came_with_its_head_needs_no_memory() -> None:
    async with listening(count, *filters(RequestMemory(total=0), [], JANE)) as listener:
        answer = await ask(listener.port, CONFIG_MAPS, method="POST", body=b"x" * 100)

    assert answer.text == "100"


async def test_a_short_body_that_does_not_end_has_memory() -> None:
    memory = RequestMemory()

    async with listening(count, *filters(memory, [], JANE)) as listener:
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nx".encode())
        while not memory.statistics()["bytes"]:  # noqa: ASYNC110 - nothing tells it
            await asyncio.sleep(0)
        held = memory.statistics()["bytes"]
        writer.write(b"x" * 999)
        answer = await read_answer(reader)
        writer.close()
        await writer.wait_closed()

    assert (held, answer.text) == (1000, "1000")
    assert memory.statistics()["bytes"] == 0


async def test_an_anonymous_body_is_read_behind_the_authorization_and_outside_of_it() -> None:
    steps = list[str]()

    def with_steps(handler: Handler) -> Handler:
        """Stands for flow control and authorization."""

        async def stepping(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            steps.append("authorized")
            try:
                return await handler(request, context)
            finally:
                steps.append("left")

        return stepping

    async with listening(count, *filters(RequestMemory(), [], ANONYMOUS, with_steps)) as listener:
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        writer.write(f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nx".encode())
        while steps != ["authorized", "left"]:  # noqa: ASYNC110 - nothing tells it
            await asyncio.sleep(0)
        writer.write(b"x")
        answer = await read_answer(reader)
        writer.close()
        await writer.wait_closed()

    assert answer.text == "2"
    assert steps == ["authorized", "left"] * 2


async def test_an_anonymous_client_that_is_refused_is_not_asked_for_its_body() -> None:
    def with_refusal(_handler: Handler) -> Handler:
        async def refuse(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            return responses.text(context, "no", status=403)

        return refuse

    async with listening(count, *filters(RequestMemory(), [], ANONYMOUS, with_refusal)) as listener:
        reader, writer = await asyncio.open_connection(LOOPBACK, listener.port)
        head = f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        writer.write(head.encode())
        answer = await read_answer(reader)
        writer.close()
        await writer.wait_closed()

    assert answer.status == 403


async def test_large_objects_are_written_one_at_a_time() -> None:
    objects, most = RequestMemory(total=10 << 20, per_user=8 << 20), list[int]()
    running, both_wait = list[int](), asyncio.Event()

    async def write(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        running.append(1)
        most.append(len(running))
        await both_wait.wait()
        running.pop()
        return await count(request, context)

    body = b'{"a":[%b]}' % b",".join([b"{}"] * 30_000)
    async with listening(write, *filters(RequestMemory(), [], JANE, objects=objects)) as listener:
        asking = [asyncio.ensure_future(ask(listener.port, CONFIG_MAPS, method="POST", body=body)) for _ in range(2)]
        while not objects.statistics()["waiting"]:  # noqa: ASYNC110 - nothing tells it
            await asyncio.sleep(0)
        both_wait.set()
        answers = await asyncio.gather(*asking)

    assert [answer.text for answer in answers] == [str(len(body))] * 2
    assert most == [1, 1]
    assert objects.statistics()["bytes"] == 0
