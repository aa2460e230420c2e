"""Routes: from a decoded path to its handler.

A path is served by the handler of exactly that path, or else by the one with the longest prefix that fits. Knows no
method and no API. Must hold: a path that nothing serves is answered with kube-apiserver's plain 404.
"""

from collections.abc import Awaitable, Mapping

from aiohttp import web

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext


class Routes:
    """All that is served. `prefixes` end in a slash and stand for everything below it."""

    def __init__(self, *, exact: Mapping[str, Handler], prefixes: Mapping[str, Handler]) -> None:
        self._exact = exact
        self._below_first: dict[str, list[tuple[str, Handler]]] = {}
        """By the first part of a path, which stands between two slashes."""
        for prefix, handler in sorted(prefixes.items(), key=lambda route: len(route[0]), reverse=True):
            self._below_first.setdefault(prefix[1 : prefix.find("/", 1)], []).append((prefix, handler))

    def dispatch(self, request: web.BaseRequest, context: RequestContext) -> Awaitable[web.StreamResponse]:
        """Answer by the handler of the path."""
        handler = self._exact.get(context.path) or self._below(context.path)
        return handler(request, context)

    def _below(self, path: str) -> Handler:
        for prefix, handler in self._below_first.get(path[1 : path.find("/", 1)], ()):
            if path.startswith(prefix):
                return handler
        return _nowhere


async def _nowhere(_request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    return responses.not_found(context)
