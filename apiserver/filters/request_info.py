"""Request info: decodes the request target and puts path, query and RequestInfo into the context.

Clients repeat the same few targets. So the results for short targets are cached.
"""

from collections.abc import Awaitable
from functools import lru_cache

from aiohttp import hdrs, web
from msgspec.structs import replace

from aio_apiserver.apiserver.wire import request_info, responses, urls
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.golang.quoting import quote

_MOST_KEPT = 1024
_LONGEST_KEPT = 256


def with_request_info(handler: Handler) -> Handler:
    """Add path, query and RequestInfo to the context."""

    def resolved(request: web.BaseRequest, context: RequestContext) -> Awaitable[web.StreamResponse]:
        raw = request.raw_path
        try:
            path, query, info = (_remembered if len(raw) <= _LONGEST_KEPT else _read)(request.method, raw)
        except urls.MalformedTarget:
            return _malformed(context)
        except urls.TooManyParameters:
            return _refused(request, context)
        except request_info.UnreadablePath:
            return _unreadable(context, raw)
        return handler(request, replace(context, path=path, query=query, info=info))

    return resolved


async def _malformed(context: RequestContext) -> web.StreamResponse:
    response = responses.raw(context, b"400 Bad Request", status=400, content_type=responses.TEXT)
    response.force_close()
    return response


async def _refused(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    why = f"number of URL query parameters exceeded limit of {urls.MOST_PARAMETERS}"
    return responses.error(request, context, BadRequest(why))


async def _unreadable(context: RequestContext, raw: str) -> web.StreamResponse:
    why = f"failed to create RequestInfo: unable to determine kind and namespace from url, {raw}"
    response = responses.text(context, f"Internal Server Error: {quote(raw)}: {why}\n", status=500)
    del response.headers[hdrs.CACHE_CONTROL]  # kube-apiserver fails before it sets this header
    return response


def _read(method: str, raw: str) -> tuple[str, urls.Query, request_info.RequestInfo]:
    path, query = urls.parse(raw)
    return path, query, request_info.resolve(method, path, query)


_remembered = lru_cache(maxsize=_MOST_KEPT)(_read)
