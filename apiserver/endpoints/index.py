"""The index: the paths that are served, for people who begin at the root."""

from collections.abc import Iterable

from aiohttp import web

from apiserver import responses
from apiserver.context import Handler, RequestContext


def handler(paths: Iterable[str]) -> Handler:
    """Lists what is served, sorted; paths that only differ by a slash at the end are told once."""
    shown = sorted({path.rstrip("/") for path in paths} - {""} | {"/apis/", "/openapi/v3/"})

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return responses.json(request, context, {"paths": shown})

    return handle
