import pytest
from aiohttp import web

from aio_apiserver.apiserver.filters.request_info import with_request_info
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext
from tests.apiserver.serving import ask, listening


async def show(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    read = {"path": context.path, "query": context.query, "verb": context.info.verb, "name": context.info.name}
    return responses.json(request, context, read)


async def test_handlers_see_the_request_decoded() -> None:
    async with listening(show, with_request_info) as listener:
        answer = await ask(listener.port, "/api/v1/pods?fieldSelector=metadata.name%3Da%2Db&x=1&x=2")

    assert answer.json == {
        "path": "/api/v1/pods",
        "query": {"fieldSelector": ["metadata.name=a-b"], "x": ["1", "2"]},
        "verb": "list",
        "name": "a-b",
    }


async def test_a_broken_escape_is_no_request() -> None:
    async with listening(show, with_request_info) as listener:
        answer = await ask(listener.port, "/api/v1/namespaces/a%zz")

    assert (answer.status, answer.text) == (400, "400 Bad Request")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("path", ["/api/v1/watch", "/apis/apps/v1/proxy", "/api/v1/watch/"])
async def test_a_verb_for_nothing_is_answered_as_kube_apiserver_does(path: str) -> None:
    async with listening(show, with_request_info) as listener:
        answer = await ask(listener.port, path)

    why = f"failed to create RequestInfo: unable to determine kind and namespace from url, {path}"
    assert (answer.status, answer.text) == (500, f'Internal Server Error: "{path}": {why}\n')
