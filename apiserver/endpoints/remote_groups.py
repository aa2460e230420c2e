"""Remote groups: versions of APIs for which an APIService names a service.

This server answers for its own groups and custom resources; for others it says that they are not available.
"""

from collections.abc import Callable

from aiohttp import web

from apiserver import responses
from apiserver.context import Handler, RequestContext

IsRemote = Callable[[str, str], bool]
"""Whether somebody else answers for a group and version."""

_UNAVAILABLE = "service unavailable\n"


def before(handler: Handler, is_remote: IsRemote) -> Handler:
    """Refuse requests for remote groups, and hand on all others."""

    async def dispatched(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        _, _, group, version, *_ = (*context.path.split("/", 4), "", "")
        if version and is_remote(group, version):
            return responses.text(context, _UNAVAILABLE, status=503)
        return await handler(request, context)

    return dispatched
