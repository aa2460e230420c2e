"""Rest request: the registry's Request, made from the context of an HTTP request."""

from typing import Any

from aiohttp import hdrs, web

from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base.empties import Empties
from aio_apiserver.registry.generic.audit.annotations import unnoted
from aio_apiserver.registry.generic.field_managers import manager_of
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.generic.served import Served


def rest_request(context: RequestContext, served: Served[Any]) -> Request:
    """The Request of a read or a deletion."""
    return Request(
        user=context.user,
        version=served.version,
        warn=context.warnings.add,
        annotate=unnoted if context.trail is None else context.trail.annotate,
        note_step=context.note_step,
        namespace=context.info.namespace,
        verb=context.info.verb,
        deadline=context.deadline,
    )


def write_request(
    request: web.BaseRequest, context: RequestContext, served: Served[Any], *, size: int, empties: Empties = ()
) -> Request:
    """The Request of a write. Its field manager is named by the User-Agent."""
    return Request(
        user=context.user,
        version=served.version,
        warn=context.warnings.add,
        annotate=context.annotate,
        note_step=context.note_step,
        namespace=context.info.namespace,
        manager=manager_of(request.headers.get(hdrs.USER_AGENT, "")),
        verb=context.info.verb,
        size=size,
        empties=empties,
        deadline=context.deadline,
    )
