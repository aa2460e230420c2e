"""Receiving: connections that share a buffer keep their own bytes."""

import asyncio
from pathlib import Path

from aiohttp import web

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext
from tests.apiserver.serving import ask, listening, running, trusting

LENGTH = 600_000
"""More than one buffer."""


async def echo(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    return responses.raw(context, await request.read(), content_type=responses.TEXT)


async def test_connections_with_one_buffer_get_their_own_bytes() -> None:
    bodies = [number.to_bytes() * LENGTH for number in range(4)]

    async with listening(echo) as listener:
        answers = await asyncio.gather(*(ask(listener.port, "/", method="POST", body=body) for body in bodies))

    assert [answer.body for answer in answers] == bodies


async def test_connections_with_tls_and_one_buffer_get_their_own_bytes(tmp_path: Path) -> None:
    names = [letter * 50_000 for letter in "abcd"]
    path = "/api/v1/namespaces/default/configmaps?dryRun=All"

    async with running(tmp_path, authorization_mode=("AlwaysAllow",)) as server:
        made = await asyncio.gather(
            *(
                ask(
                    server.secure.port,
                    path,
                    method="POST",
                    body=b'{"metadata":{"name":"one"},"data":{"text":"%b"}}' % name.encode(),
                    tls=trusting(server),
                )
                for name in names
            )
        )

    assert [answer.json["data"]["text"] for answer in made] == names
