"""Flows: answers say which flow schema and which priority level the request fell under.

The objects may not be there yet, or may be gone: then answers say nothing of it. Must hold: every answer that is made
behind this filter carries the headers, failures too.
"""

from collections.abc import Callable

from aiohttp import web

from apiserver.context import Handler, RequestContext
from registry.access.authorizer import Attributes
from registry.flowcontrol.classification import Flow

FlowOf = Callable[[Attributes], Flow | None]
"""What is known of a request's flow."""


def with_flow(handler: Handler, flow_of: FlowOf) -> Handler:
    """Find out the flow."""

    async def classified(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        info = context.info
        attributes = Attributes(
            context.user,
            info.verb,
            info.group,
            info.version,
            info.resource,
            info.subresource,
            info.namespace,
            path="" if info.is_resource else info.path,
            is_resource=info.is_resource,
        )
        return await handler(request, context._replace(flow=flow_of(attributes)))

    return classified
