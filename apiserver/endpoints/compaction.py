"""Compaction: POST /debug/compact, which compacts the stores of the server to their present revision.

`apiserver compact` calls it. The path is not listed at the root, and needs the verb `post` on it, which administrators
have. Must hold: other methods change nothing.
"""

from collections.abc import Awaitable, Callable, Mapping

from aiohttp import hdrs, web

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext

PATH = "/debug/compact"


def exact(compact: Callable[[], Awaitable[int]]) -> Mapping[str, Handler]:
    """The handler by its path. `compact` returns the revision."""

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if request.method != hdrs.METH_POST:
            return responses.text(context, "unsupported http method\n", status=405)
        return responses.json(request, context, {"revision": str(await compact())})

    return {PATH: handle}
