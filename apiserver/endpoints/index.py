"""The index: the paths that are served, for people who begin at the root."""

from collections.abc import Callable, Iterable

from aiohttp import web

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext


def handler(paths: Callable[[], Iterable[str]]) -> Handler:
    """Lists what is served now, sorted; paths that only differ by a slash at the end are told once."""

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        shown = sorted({path.rstrip("/") for path in paths()} - {""} | {"/apis/", "/openapi/v3/"})
        return responses.json(request, context, {"paths": shown})

    return handle
