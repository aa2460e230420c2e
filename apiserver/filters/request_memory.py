"""Request memory: gives a request memory for its long head and for its body, before it has a seat of flow control.

A client with a slow body takes no seat from others so. kube-apiserver reads the body in the seat. The body of an
anonymous request is read after the authorizer has allowed the request: `with_body_behind_authorization` ends its first
run there, so that it gives its seat back, and then it runs once more.

Must hold: a request has its memory until its response has been written, a watch until it has ended. A request that gets
none in time is answered with 429, and its connection is closed.
"""

from collections.abc import Awaitable, Callable

from aiohttp import web

from aio_apiserver.apiserver.filters.fairness import too_many
from aio_apiserver.apiserver.wire import bodies
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.request_memory import RequestMemory
from aio_apiserver.apiserver.wire.served_requests import ServedRequest
from aio_apiserver.apiserver.wire.watch_responses import when_ended
from aio_apiserver.registry.generic.access.users import ALL_UNAUTHENTICATED

_WITH_BODIES = frozenset({"create", "update", "patch", "delete", "deletecollection", "post", "put"})
_SHORT_BODY = 16 * 1024
"""A body that came together with its head takes no memory up to this size."""
_RETRY_SECONDS = 1


class _BodyIsToCome(web.StreamResponse):
    """What the first run of an anonymous request returns. It is not sent."""


def with_request_memory(
    handler: Handler, *, memory: RequestMemory, on_refused: Callable[[RequestContext], None]
) -> Handler:
    """Give requests their memory, and read their bodies."""
    early = bodies.EarlyBodies(memory)

    def begin(request: web.BaseRequest, context: RequestContext) -> Awaitable[web.StreamResponse]:
        assert isinstance(request, ServedRequest)
        if request.head_bytes:
            return behind_head(request, context)
        return behind_body(request, context) if _awaits_body(request, context) else handler(request, context)

    async def behind_head(request: ServedRequest, context: RequestContext) -> web.StreamResponse:
        user, size = context.user.name, request.head_bytes
        if not memory.take_at_once(user, size):
            return refused(context)
        request.count_head_for_user()

        def give_back() -> None:
            memory.give_back(user, size)

        try:
            response = await begin(request, context)
        except BaseException:
            give_back()
            raise
        when_ended(response, give_back)
        return response

    async def behind_body(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if ALL_UNAUTHENTICATED in context.user.groups:
            response = await handler(request, context)
            if not isinstance(response, _BodyIsToCome):
                return response
        async with early.read(request, context.user.name) as is_read:
            if is_read:
                return await handler(request, context)
        return refused(context)

    def refused(context: RequestContext) -> web.StreamResponse:
        on_refused(context)
        response = too_many(context, _RETRY_SECONDS)
        response.force_close()
        return response

    return begin


def with_body_behind_authorization(handler: Handler) -> Handler:
    """End the first run of an anonymous request whose body was not read."""

    async def expecting(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return _BodyIsToCome() if _awaits_body(request, context) else await handler(request, context)

    return expecting


def _awaits_body(request: web.BaseRequest, context: RequestContext) -> bool:
    """Whether the request has a body that was not read, and that is long or has not come as a whole."""
    info, content = context.info, request.content
    if info.verb not in _WITH_BODIES or (content.is_eof() and content.total_bytes <= _SHORT_BODY):
        return False
    return not (info.is_long_running or bodies.EarlyBodies.has(request))
