"""Connect: the verb of pods/log, exec, attach, portforward and proxy, whose requests go on to a kubelet, pod or
service.

The registry returns the location. Headers that authenticate the user to this server must not be forwarded.
"""

from collections.abc import Awaitable, Callable, Mapping

from aiohttp import hdrs, web

from aio_apiserver.apiserver.handlers import container_logs, output, reverse_proxy, tunnels
from aio_apiserver.apiserver.handlers.rest_request import rest_request
from aio_apiserver.apiserver.outgoing.relay_client import RelayClient
from aio_apiserver.apiserver.wire import negotiation, responses
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.locations import ConnectRequest, Location, Passage
from aio_apiserver.registry.generic.rest import Connecter
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery import media_types

Pass = Callable[[web.BaseRequest, RequestContext, Location, RelayClient], Awaitable[web.StreamResponse]]

_BEHIND = 3
"""The parts of a path before the forwarded path: resource, name, subresource."""
_WRITTEN = ("text/plain", *media_types.OF_OBJECTS)
"""The media types of a path that serves logs."""
_PASSES: Mapping[Passage, Pass] = {
    Passage.LOG: container_logs.send,
    Passage.STREAM: tunnels.stream,
    Passage.PROXY: reverse_proxy.send,
}


async def handle(
    request: web.BaseRequest, context: RequestContext, served: Served[Connecter], *, backends: RelayClient
) -> web.StreamResponse:
    """Ask the registry for the location, and forward the request."""
    info = context.info
    chosen = None
    if served.view.object_kind.kind == served.kind.kind:
        chosen = output.negotiated(context, served, written=_WRITTEN)
    elif context.query.get("dryRun"):
        raise errors.BadRequest("dryRun is not supported")
    path = "/".join(info.parts[_BEHIND:])
    if path and not path.startswith("/"):
        path = f"/{path}"
    if info.path.endswith("/") and not path.endswith("/"):
        path += "/"
    call = ConnectRequest(verb=info.verb, query=context.query, path=path)
    location = await served.storage.connect(rest_request(context, served), info.name, call)
    if chosen is not None and chosen.target is not None:
        raise _no_form(chosen.target)
    if location is None:
        return _nothing(context)
    return await _PASSES[location.passage](request, context, location, backends)


def _no_form(target: negotiation.ConversionTarget) -> errors.StatusError:
    """The error for a log in another format, in kube-apiserver's words."""
    if target.kind == negotiation.PARTIAL_LIST:
        found = "*rest.LocationStreamer"
        why = f"you requested PartialObjectMetadataList, but the requested object is not a list ({found})"
        return errors.NotTransformable(why)
    return errors.StatusError("object does not implement the Object interfaces")


def _nothing(context: RequestContext) -> web.StreamResponse:
    """The response when the storage returns no location."""
    response = responses.raw(context, b"", status=204)
    del response.headers[hdrs.CONTENT_TYPE]
    return response
