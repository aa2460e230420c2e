"""Index: the list of served paths at /."""

from collections.abc import Callable, Iterable

from aiohttp import web

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext


def handler(paths: Callable[[], Iterable[str]]) -> Handler:
    """The sorted paths. Paths that differ only in a trailing slash are listed once."""

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        shown = sorted({path.rstrip("/") for path in paths()} - {""} | {"/apis/", "/openapi/v3/"})
        return responses.json(request, context, {"paths": shown})

    return handle
