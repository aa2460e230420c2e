from aiohttp import web

from aio_apiserver.apiserver.filters.request_info import with_request_info
from aio_apiserver.apiserver.routing import Routes
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from tests.apiserver.serving import ask, listening


def answering(text: str) -> Handler:
    async def answer(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return responses.text(context, text)

    return answer


ROUTES = Routes(
    exact={"/a": answering("exact"), "/a/b": answering("deeper")},
    prefixes={"/a/": answering("below"), "/a/long/": answering("longest"), "/b/": answering("other")},
)


async def served_by(path: str) -> str:
    async with listening(ROUTES.dispatch, with_request_info) as listener:
        return (await ask(listener.port, path)).text


async def test_an_exact_path_comes_first() -> None:
    assert await served_by("/a") == "exact"
    assert await served_by("/a/b") == "deeper"


async def test_the_longest_prefix_serves_what_is_below_it() -> None:
    assert await served_by("/a/x/y") == "below"
    assert await served_by("/a/long/x") == "longest"
    assert await served_by("/b/") == "other"


async def test_other_paths_are_not_found() -> None:
    assert await served_by("/b") == "404 page not found\n"
    assert await served_by("//a") == "404 page not found\n"
