"""Request memory: gives a request memory for its long head, for its body and for the object in it, before it has a seat
of flow control.

A client with a slow body takes no seat from others so. kube-apiserver reads the body in the seat. The body of an
anonymous request is read after the authorizer has allowed the request. For it, flow control and authorization run once
without the handler, and once more with it.

Must hold: a request has its memory until its response has been written, a watch until it has ended. A request that gets
none in time is answered with 429, and its connection is closed.
"""

from collections.abc import Awaitable, Callable
from functools import partial

from aiohttp import web

from aio_apiserver.apiserver.filters.fairness import too_many
from aio_apiserver.apiserver.wire import bodies
from aio_apiserver.apiserver.wire.context import Filter, Handler, RequestContext
from aio_apiserver.apiserver.wire.request_memory import RequestMemory
from aio_apiserver.apiserver.wire.served_requests import ServedRequest
from aio_apiserver.apiserver.wire.watch_responses import when_ended
from aio_apiserver.registry.generic.access.users import ALL_UNAUTHENTICATED

_WITH_BODIES = frozenset({"create", "update", "patch", "delete", "deletecollection", "post", "put"})
_SHORT_BODY = 4 * 1024
"""A body that came together with its head takes no memory up to this size."""
_RETRY_SECONDS = 1


class _Allowed(web.StreamResponse):
    """Says that an anonymous request is allowed. It is not sent."""


async def _allow(_request: web.BaseRequest, _context: RequestContext) -> web.StreamResponse:
    """The handler of the run in which an anonymous request is authorized."""
    return _Allowed()


class RequestMemoryFilter:
    """Gives requests their memory, and reads their bodies. authorize: the filters that refuse anonymous requests.
    memory: for heads and bodies. objects: for what is in bodies.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        authorize: Filter,
        memory: RequestMemory,
        objects: RequestMemory,
        on_refused: Callable[[RequestContext], None],
    ) -> None:
        self._handler = handler
        self._authorized = authorize(_allow)
        self._memory = memory
        self._on_refused = on_refused
        self._early = bodies.EarlyBodies(memory, objects)

    def __call__(self, request: web.BaseRequest, context: RequestContext) -> Awaitable[web.StreamResponse]:
        assert isinstance(request, ServedRequest)
        if request.head_bytes:
            return self._run_behind_head(request, context)
        if context.info.verb in _WITH_BODIES and _awaits_body(request, context):
            return self._run_behind_body(request, context)
        return self._handler(request, context)

    async def _run_behind_head(self, request: ServedRequest, context: RequestContext) -> web.StreamResponse:
        user, size = context.user.name, request.head_bytes
        if not self._memory.take_at_once(user, size):
            return self._refused(context)
        request.count_head_for_user()
        give_back = partial(self._memory.give_back, user, size)
        try:
            response = await self(request, context)
        except BaseException:
            give_back()
            raise
        when_ended(response, give_back)
        return response

    async def _run_behind_body(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if ALL_UNAUTHENTICATED in context.user.groups:
            response = await self._authorized(request, context)
            if not isinstance(response, _Allowed):
                return response
        async with self._early.read(request, context.user.name) as is_read:
            if is_read:
                return await self._handler(request, context)
        return self._refused(context)

    def _refused(self, context: RequestContext) -> web.StreamResponse:
        self._on_refused(context)
        response = too_many(context, _RETRY_SECONDS)
        response.force_close()
        return response


def _awaits_body(request: web.BaseRequest, context: RequestContext) -> bool:
    """Whether the request has a body that was not read, and that is long or has not come as a whole."""
    info, content = context.info, request.content
    if content.is_eof() and content.total_bytes <= _SHORT_BODY:
        return False
    return not (info.is_long_running or bodies.EarlyBodies.has(request))
