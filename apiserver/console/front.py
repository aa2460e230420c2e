"""front: the filter before authentication that serves the console's pages and authenticates its sessions.

It must not authorize: requests of a session go through the same filters as those of other clients.

Must hold: pages need no user, because they show no data. A request that another site caused is refused.
"""

from aiohttp import hdrs, web
from msgspec.structs import replace

from aio_apiserver.apiserver.console import foreign_requests
from aio_apiserver.apiserver.console.pages import asset_files
from aio_apiserver.apiserver.console.session_endpoints import PATH, SessionEndpoints, is_sign_out, needs_user
from aio_apiserver.apiserver.console.sessions import ConsoleSessions
from aio_apiserver.apiserver.metrics.access import AccessMetrics
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import Filter, Handler, RequestContext
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.authentication import BadToken, Tokens

HOME = "/ui/"
API = "/ui/api/"
_HTML = "text/html"


class ConsoleFront:
    """The filter of one server."""

    def __init__(
        self,
        sessions: ConsoleSessions,
        endpoints: SessionEndpoints,
        tokens: Tokens,
        *,
        metrics: AccessMetrics,
        clock: Clock,
    ) -> None:
        self._sessions = sessions
        self._endpoints = endpoints
        self._tokens = tokens
        self._metrics = metrics
        self._clock = clock

    def before(self, authenticate: Filter) -> Filter:
        """A filter for the place of `authenticate`, to which it leaves all requests without a session."""

        def with_console(handler: Handler) -> Handler:
            usual, own = authenticate(handler), authenticate(self._endpoints.handle)

            async def fronted(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
                if foreign_requests.is_foreign(request):
                    raise errors.Forbidden(None, "", why="the request was caused by another site")
                if _is_page(context.path):
                    return asset_files.respond_asset(request, context, context.path.removeprefix(HOME))
                if context.path in ("/ui", "/") and _is_browser(request, context.path):
                    return _to_home(context)
                is_own = context.path.startswith(PATH)
                if is_own and not needs_user(context):
                    return await self._endpoints.handle(request, context)
                if is_sign_out(request, context):
                    return await self._endpoints.handle(request, await self._signing_out(request, context))
                token = "" if hdrs.AUTHORIZATION in request.headers else await self._sessions.token_of(request)
                if not token:
                    return await (own if is_own else usual)(request, context)
                context = await self._signed_in(context, token)
                return await (self._endpoints.handle if is_own else handler)(request, context)

            return fronted

        return with_console

    async def _signing_out(self, request: web.BaseRequest, context: RequestContext) -> RequestContext:
        """The context with the user of the session that ends; anonymous when its token is not accepted any more."""
        token = self._sessions.sealed_token(request)
        try:
            return await self._signed_in(context, token) if token else context
        except errors.Unauthorized:
            return context

    async def _signed_in(self, context: RequestContext, token: str) -> RequestContext:
        """The context with the user of the session. Raises Unauthorized."""
        began = self._clock.monotonic()
        try:
            found = await self._tokens.authenticate(token, self._tokens.own_audiences)
        except BadToken:
            self._metrics.unauthenticated(self._clock.monotonic() - began, is_error=True)
            raise errors.Unauthorized from None
        self._metrics.authenticated(found.user, found, self._clock.monotonic() - began)
        return replace(context, user=found.user, notes=found.annotations)


def _is_page(path: str) -> bool:
    return path.startswith(HOME) and not path.startswith((API, PATH))


def _is_browser(request: web.BaseRequest, path: str) -> bool:
    """Whether the client wants a page. At / other clients get the list of paths."""
    return request.method == hdrs.METH_GET and (path != "/" or _HTML in request.headers.get(hdrs.ACCEPT, ""))


def _to_home(context: RequestContext) -> web.StreamResponse:
    response = responses.raw(context, b"", status=302, content_type=responses.TEXT)
    response.headers[hdrs.LOCATION] = HOME
    return response
