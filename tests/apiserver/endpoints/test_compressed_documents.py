"""Compressed documents that are longer than one piece."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from aio_apiserver.apiserver.endpoints import compressed_documents
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext
from tests.apiserver.serving import ask, listening

BODY = b"".join(b"%07d\n" % number for number in range(40_000))
CONTENT = compressed_documents.of(BODY, made=1.0)


@asynccontextmanager
async def serving() -> AsyncIterator[int]:
    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return compressed_documents.respond(request, context, CONTENT, responses.TEXT, extra={})

    async with listening(handle) as listener:
        yield listener.port


async def test_a_long_document_comes_whole() -> None:
    async with serving() as port:
        answer = await ask(port, "/")

    assert answer.headers["content-length"] == str(len(BODY))
    assert answer.body == BODY


@pytest.mark.parametrize(
    ("first", "last"), [(0, 9), (70_000, 70_007), (65_000, 66_000), (0, 200_000), (319_990, 319_999)]
)
async def test_a_part_of_a_long_document_is_that_part(first: int, last: int) -> None:
    async with serving() as port:
        answer = await ask(port, "/", headers={"Range": f"bytes={first}-{last}"})

    assert answer.status == 206
    assert answer.headers["content-range"] == f"bytes {first}-{last}/{len(BODY)}"
    assert answer.body == BODY[first : last + 1]


async def test_the_answer_to_head_has_the_length_alone() -> None:
    async with serving() as port:
        answer = await ask(port, "/", method="HEAD")

    assert answer.headers["content-length"] == str(len(BODY))
