"""Routing: from a decoded path to its HTTP handler.

A path is served by the handler of that exact path, else by the handler of the longest prefix. It must not know methods
or resources.

Must hold: a path without a handler gets kube-apiserver's plain 404.
"""

from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext


class Routes:
    """The handlers of one server. Each prefix ends in a slash, and serves all paths below it."""

    def __init__(self, *, exact: Mapping[str, Handler], prefixes: Mapping[str, Handler]) -> None:
        self._exact = exact
        self._below_first: dict[str, list[tuple[str, Handler]]] = {}
        """The prefixes by the first segment of the path."""
        for prefix, handler in sorted(prefixes.items(), key=lambda route: len(route[0]), reverse=True):
            self._below_first.setdefault(prefix[1 : prefix.find("/", 1)], []).append((prefix, handler))

    def dispatch(self, request: web.BaseRequest, context: RequestContext) -> Awaitable[web.StreamResponse]:
        """Call the handler of the path."""
        path = context.path
        exact = self._exact.get(path)
        if exact is not None:
            return exact(request, context)
        for prefix, handler in self._below_first.get(path[1 : path.find("/", 1)], ()):
            if path.startswith(prefix):
                return handler(request, context)
        return _not_found(request, context)


def documents_or_resources(document_at: Callable[[str], Handler | None], resources: Handler) -> Handler:
    """The handler of all paths below /apis/: discovery documents of groups and versions, resources for other paths."""

    def dispatched(request: web.BaseRequest, context: RequestContext) -> Awaitable[web.StreamResponse]:
        document = None if context.info.is_resource else document_at(context.path)
        return (document or resources)(request, context)

    return dispatched


async def _not_found(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    return responses.not_found(context)
