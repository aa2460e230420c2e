"""Request info: the request target is decoded and read once, for everything that comes after."""

from aiohttp import web

from apiserver import request_info, responses, urls
from apiserver.context import Handler, RequestContext
from registry.quoting import quote


def with_request_info(handler: Handler) -> Handler:
    """Put path, query and RequestInfo into the context."""

    async def resolved(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        raw = request.raw_path
        try:
            path, query = urls.parse(raw)
            info = request_info.resolve(request.method, path, query)
        except urls.Malformed:
            response = responses.raw(context, b"400 Bad Request", status=400, content_type=responses.TEXT)
            response.force_close()
            return response
        except request_info.Unreadable:
            why = f"failed to create RequestInfo: unable to determine kind and namespace from url, {raw}"
            return responses.text(context, f"Internal Server Error: {quote(raw)}: {why}\n", status=500)
        return await handler(request, context._replace(path=path, query=query, info=info))

    return resolved
