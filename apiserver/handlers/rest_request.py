"""From the context of an HTTP request to what the registry has to know of it."""

from typing import Any

from apiserver.context import RequestContext
from apiserver.handlers.served import Served
from registry.rest import Request


def rest_request(context: RequestContext, served: Served[Any]) -> Request:
    """The registry's view of a request."""
    return Request(
        user=context.user,
        version=served.version,
        warn=context.warnings.add,
        namespace=context.info.namespace,
    )
