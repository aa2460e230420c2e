"""From the context of an HTTP request to what the registry has to know of it."""

from typing import Any

from aiohttp import hdrs, web

from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base.empties import Empties
from aio_apiserver.registry.generic.field_managers import manager_of
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.generic.served import Served


def rest_request(context: RequestContext, served: Served[Any]) -> Request:
    """The registry's view of a request."""
    return Request(
        user=context.user,
        version=served.version,
        warn=context.warnings.add,
        annotate=context.annotate,
        namespace=context.info.namespace,
        verb=context.info.verb,
        deadline=context.deadline,
    )


def write_request(
    request: web.BaseRequest, context: RequestContext, served: Served[Any], *, size: int, empties: Empties = ()
) -> Request:
    """The registry's view of a request that writes: its client owns what it writes."""
    return Request(
        user=context.user,
        version=served.version,
        warn=context.warnings.add,
        annotate=context.annotate,
        namespace=context.info.namespace,
        manager=manager_of(request.headers.get(hdrs.USER_AGENT, "")),
        verb=context.info.verb,
        size=size,
        empties=empties,
        deadline=context.deadline,
    )
